import { binaryArray } from '../../platform/database/binary-array';
import { type StatementPart } from '../../platform/database/statement-part';
import { type Statement } from '../../platform/database/statement';
import { joinedRows, presentRowsOf, type SearchRows } from '../search/extract/search-rows';
import { type WriteMethod } from '../stored-resource';
import { type RowSource, SEARCH_TABLES, type SearchTable } from './search-tables';

/** Places of the values that all rows of one resource share, as `$n` in a statement. */
type RowPlaces = Omit<RowSource, 'unnest'>;

/** What a version writes into `resource`. */
export interface RowContent {
  readonly version: number;
  readonly updatedAt: Date;
  readonly method: WriteMethod;
  readonly text: string;
  readonly mainDate: Date;
  readonly rows: SearchRows;
  /** The version of the live search parameters that `rows` were made by; another one in force is a conflict (ADR 0019). */
  readonly parametersVersion: number;
}

export interface NewRow extends RowContent {
  readonly key: number;
  readonly type: string;
  readonly id: string;
  readonly referenceHash: number;
}

/** The place of a row that exists, and the search rows that must go. */
export interface RowLocation {
  readonly key: number;
  readonly mainDate: Date;
  readonly rows: SearchRows;
  readonly parametersVersion: number;
}

export interface BoundStatement {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** One statement that writes a resource and its search rows, and what listeners add; tables without rows do not occur in it. */
export function insertResource(row: NewRow, parts: readonly StatementPart[] = []): BoundStatement {
  const binder = new Binder('resource-insert');
  const at = binder.bindRow(row.key, row.mainDate);
  const resource = [
    row.type,
    row.id,
    row.referenceHash,
    row.version,
    row.updatedAt,
    row.method,
    row.text,
    row.rows.present.toString(),
    row.parametersVersion,
  ];
  const [type, id, hash, version, updatedAt, method, body, present, known] = resource.map((value) =>
    binder.bind(value),
  );
  binder.change('+', row.rows, ({ insertSql }, unnest) => insertSql({ ...at, unnest }));
  for (const part of parts) binder.join(part);
  return binder.finish(
    () => `insert into resource (resource_key, main_date, type, id, reference_hash, version, updated_at, method, body, present)
     values (${at.key}, ${at.mainDate}, ${type}, ${id}, ${hash}, ${version} + (${assertKnown(known)}), ${updatedAt}, ${method}, ${body}, ${present})`,
  );
}

/** One statement that moves the present version into the history, replaces it, and changes the search rows. */
export function updateResource(from: RowLocation, to: RowContent): BoundStatement {
  const binder = new Binder('resource-update');
  const at = binder.bindRow(from.key, to.mainDate);
  const old: RowPlaces = { ...at, mainDate: `${binder.bind(from.mainDate)}::timestamptz` };
  const content = [to.version, to.updatedAt, to.method, to.text, to.rows.present.toString(), to.parametersVersion];
  const [version, updatedAt, method, body, present, known] = content.map((value) => binder.bind(value));
  const { removed, added } = differenceOf(from, to);
  binder.change('-', removed, ({ deleteSql }, unnest) => deleteSql?.({ ...old, unnest }));
  binder.change('+', added, ({ insertSql }, unnest) => insertSql({ ...at, unnest }));
  return binder.finish(
    () => `update resource set main_date = ${at.mainDate}, version = ${version} + (${assertKnown(known)}), updated_at = ${updatedAt}, method = ${method},
       body = ${body}, present = ${present}, transaction_id = pg_current_xact_id()
     where resource_key = ${at.key} and main_date = ${old.mainDate}`,
    archiveSql(at.key),
  );
}

/** One statement that moves the present version into the history, adds the deletion, and removes the row and its search rows. */
export function deleteResource(from: RowLocation, version: number, deletedAt: Date): BoundStatement {
  const binder = new Binder('resource-delete');
  const at = binder.bindRow(from.key, from.mainDate);
  const [versionPlace, deletedAtPlace, known] = [version, deletedAt, from.parametersVersion].map((value) =>
    binder.bind(value),
  );
  binder.change('-', presentRowsOf(from.rows), ({ deleteSql }, unnest) => deleteSql?.({ ...at, unnest }));
  const tombstone = `insert into resource_history (updated_at, version, type, id, method, body)
     select ${deletedAtPlace}, ${versionPlace} + (${assertKnown(known)}), type, id, 'DELETE', null from resource where resource_key = ${at.key}`;
  return binder.finish(
    () => `delete from resource where resource_key = ${at.key} and main_date = ${at.mainDate}`,
    archiveSql(at.key),
    tombstone,
  );
}

/** 0, or an error with SQLSTATE 40001 (see the migration): a look is enough; in doubt the function decides, at four times the cost. */
export const assertKnown = (known: string | undefined): string =>
  `case when (select version from search_parameter_version) = ${known} then 0 else assert_search_parameters(${known}) end`;

const archiveSql = (key: string): string =>
  `insert into resource_history (updated_at, transaction_id, version, type, id, method, body)
   select updated_at, transaction_id, version, type, id, method, body from resource where resource_key = ${key}`;

/** Statements by name: a name stands for one combination of tables, and its text is made once. */
const statements = new Map<string, Statement>();

/** Gathers values and data-modifying CTEs; the same combination of tables gives the same name and text. */
class Binder {
  private readonly values: unknown[] = [];
  private readonly changes: (() => string)[] = [];

  constructor(private name: string) {}

  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  bindRow(key: number, mainDate: Date): RowPlaces {
    return { key: `${this.bind(key)}::bigint`, mainDate: `${this.bind(mainDate)}::timestamptz` };
  }

  change(sign: '+' | '-', rows: SearchRows, sqlOf: (table: SearchTable, unnest: string) => string | undefined): void {
    this.name += sign;
    for (const table of SEARCH_TABLES) {
      if (sign === '-' && table.deleteSql === undefined) continue;
      const columns = table.columnsOf(rows);
      if (columns[0]?.length === 0) continue;
      this.name += table.letter;
      const places = columns.map((column, index) => this.bind(arrayOf(table, index, column)));
      this.changes.push(() => sqlOf(table, unnestSql(places, table.types)) ?? '');
    }
  }

  join({ name, values, sqlOf }: StatementPart): void {
    this.name += ` ${name}`;
    const places = values.map((value) => this.bind(value));
    this.changes.push(() => sqlOf(places));
  }

  finish(main: () => string, ...more: readonly string[]): BoundStatement {
    let statement = statements.get(this.name);
    if (statement === undefined) {
      const steps = [...more, ...this.changes.map((sql) => sql())].map((sql, index) => `c${index} as (${sql})`);
      const text = `${steps.length === 0 ? '' : `with ${steps.join(',\n')}\n`}${main()}`;
      statement = { name: this.name, text };
      statements.set(this.name, statement);
    }
    return { statement, values: this.values };
  }
}

/** Binary arrays: nothing is printed here and parsed there. */
function arrayOf({ types }: SearchTable, index: number, values: readonly unknown[]): Buffer {
  const type = types[index];
  if (type === undefined) throw new Error('A search table has more columns than types');
  return binaryArray(type, values);
}

const unnestSql = (places: readonly string[], types: readonly string[]): string =>
  `unnest(${places.map((place, index) => `${place}::${types[index]}[]`).join(', ')}) u(${places.map((_place, index) => `c${index}`).join(', ')})`;

/**
 * What to remove and add: the difference of what certainly is there, and of parameters whose index is built or removed
 * whatever may be there and whatever shall be.
 */
function differenceOf(from: RowLocation, to: RowContent): { removed: SearchRows; added: SearchRows } {
  const { unsettled } = from.rows;
  if (unsettled === undefined) return certainDifferenceOf(from, to);
  const { removed, added } = certainDifferenceOf({ ...from, rows: unsettled.certain }, to);
  return { removed: joinedRows(removed, unsettled.perhaps), added };
}

/** What to remove and add; all of it when the main date or the patient moved, since every row carries them. */
function certainDifferenceOf(from: RowLocation, to: RowContent): { removed: SearchRows; added: SearchRows } {
  const moved = from.mainDate.getTime() !== to.mainDate.getTime() || from.rows.patientHash !== to.rows.patientHash;
  if (moved) return { removed: from.rows, added: to.rows };
  return { removed: without(from.rows, to.rows), added: without(to.rows, from.rows) };
}

function without(rows: SearchRows, other: SearchRows): SearchRows {
  return {
    ...rows,
    tokens: missingIn(rows.tokens, other.tokens, ({ hash, systemHash }) => `${hash} ${systemHash}`),
    references: missingIn(
      rows.references,
      other.references,
      ({ targetHash, parameterId }) => `${targetHash} ${parameterId}`,
    ),
    numbers: missingIn(
      rows.numbers,
      other.numbers,
      ({ parameterId, codeHash, value, unitHash }) => `${parameterId} ${codeHash} ${value} ${unitHash}`,
    ),
    strings: missingIn(rows.strings, other.strings, ({ parameterId, value }) => `${parameterId} ${value}`),
    dates: missingIn(rows.dates, other.dates, ({ parameterId, low, high }) => `${parameterId} ${low} ${high}`),
  };
}

function missingIn<T>(rows: readonly T[], other: readonly T[], keyOf: (row: T) => string): T[] {
  const known = new Set(other.map(keyOf));
  return rows.filter((row) => !known.has(keyOf(row)));
}
