import { type BoundStatement } from './binder';
import { type ArrayElementType, binaryArray } from '../platform/database/binary-array';
import { type Statement, statementNamed, type StatementPart } from '../platform/database/statement';
import { type Steps } from '../platform/time/steps';
import { type WriteMethod } from '../model/stored-resource';
import { unchangedTables } from './index-digests';
import { type ColumnValues, SEARCH_TABLES, type SearchTable } from './search-tables';

/** The content of a version in the columns of `resource`, with its index rows. */
export interface RowContent {
  readonly version: number;
  readonly updatedAt: Date;
  readonly method: WriteMethod;
  readonly text: string;
  readonly mainDate: Date;
  /** The presence mask: a bit for each search parameter of the type that has a value. */
  readonly present: bigint;
  /** Rows of the search tables, in the order of the tables. */
  readonly columns: readonly ColumnValues[];
  /**
   * The version of the search parameters with which `columns` were made. If another version is current, the write
   * conflicts (ADR 0019).
   */
  readonly parametersVersion: number;
  /** Digests of `columns`; see index-digests.ts. */
  readonly indexDigests: string;
}

/** A row of `resource` that the transaction has locked. */
export interface LockedVersion {
  readonly key: number;
  readonly version: number;
  readonly indexDigests: string | null;
}

export interface NewRow extends RowContent {
  readonly key: number;
  readonly type: string;
  readonly id: string;
  readonly referenceHash: number;
}

/** A column of `resource`, and its value in one resource. */
export type ResourceColumn<Item> = readonly [name: string, type: ArrayElementType, of: (item: Item) => unknown];

export type IndexedResource = Pick<
  NewRow,
  'key' | 'mainDate' | 'present' | 'columns' | 'indexDigests' | 'parametersVersion' | 'referenceHash'
>;

/** Columns of the index. Key and main date come first. */
const ofIndex: readonly ResourceColumn<IndexedResource>[] = [
  ['resource_key', 'bigint', ({ key }) => key],
  ['main_date', 'timestamptz', ({ mainDate }) => mainDate],
  ['reference_hash', 'bigint', ({ referenceHash }) => referenceHash],
  ['present', 'bigint', ({ present }) => present],
  ['index_digests', 'text', ({ indexDigests }) => indexDigests],
];

const ofVersion: readonly ResourceColumn<NewRow>[] = [
  ['updated_at', 'timestamptz', ({ updatedAt }) => updatedAt],
  ['version', 'integer', ({ version }) => version],
  ['type', 'text', ({ type }) => type],
  ['id', 'text', ({ id }) => id],
  ['method', 'text', ({ method }) => method],
  ['body', 'text', ({ text }) => text],
];

/** The columns of `resource` that depend on its index rows. */
export const INDEXED_COLUMNS = [...ofIndex];
export const NEW_ROW_COLUMNS = [...ofIndex, ...ofVersion];

export const NEW_ROW_NAMES = NEW_ROW_COLUMNS.map(([name]) => name).join(', ');

/**
 * One statement that inserts a resource, its index rows, and the CTEs of listeners. Tables without rows are left out.
 * It pauses before each table.
 */
export function* insertResource(row: NewRow, parts: readonly StatementPart[] = []): Steps<BoundStatement> {
  const binder = new ChangeBinder('resource-insert+');
  const places = NEW_ROW_COLUMNS.map(([, type, of]) => `${binder.bind(of(row))}::${type}`);
  const [key = '', mainDate = ''] = places;
  const known = binder.bind(row.parametersVersion);
  for (const [index, table] of SEARCH_TABLES.entries()) {
    yield;
    binder.change(table, row.columns[index], (unnest) =>
      unnest === undefined ? [] : [table.insertSql({ key, mainDate, unnest })],
    );
  }
  for (const part of parts) binder.join(part);
  return binder.finish(() => {
    const values = NEW_ROW_COLUMNS.map(([name], index) =>
      name === 'version' ? `${places[index]} + (${assertKnown(known)})` : places[index],
    );
    return `insert into resource (${NEW_ROW_NAMES}) values (${values.join(', ')})`;
  });
}

/**
 * One statement that moves the current version of a locked resource to the history and replaces it. It also replaces
 * its index rows by those of `to`, whatever code wrote the stored rows. Tables whose rows stay the same are left out.
 */
export function* updateResource(from: LockedVersion, to: RowContent): Steps<BoundStatement> {
  const binder = new ChangeBinder('resource-update=');
  const at = { key: `${binder.bind(from.key)}::bigint`, mainDate: `${binder.bind(to.mainDate)}::timestamptz` };
  const content = [to.version, to.updatedAt, to.method, to.text, to.present, to.indexDigests, to.parametersVersion];
  const [version, updatedAt, method, body, present, digests, known] = content.map((value) => binder.bind(value));
  const owned = `s.resource_key = ${at.key}`;
  const unchanged = unchangedTables(from, to);
  for (const [index, table] of SEARCH_TABLES.entries()) {
    if (unchanged[index] === true) continue;
    yield;
    binder.change(table, to.columns[index], (unnest) =>
      table.replaceSql(owned, unnest === undefined ? undefined : { ...at, unnest }),
    );
  }
  return binder.finish(
    () => `update resource set main_date = ${at.mainDate}, version = ${version} + (${assertKnown(known)}), updated_at = ${updatedAt}, method = ${method},
       body = ${body}, present = ${present}, index_digests = ${digests}, transaction_id = pg_current_xact_id()
     where resource_key = ${at.key}`,
    archiveSql(at.key),
  );
}

/** Moves the current version to the history, adds the deletion, and removes the resource with its index rows. */
export const deleteResource = (key: number, version: number, deletedAt: Date): BoundStatement => ({
  statement: DELETE,
  values: [key, version, deletedAt],
});

/**
 * SQL that is 0 if the parameters have this version, else an error with SQLSTATE 40001 (see the migration). In the
 * usual case a plain read suffices; otherwise a function decides, at four times the cost.
 */
export const assertKnown = (known: string | undefined): string =>
  `case when (select version from search_parameter_version) = ${known} then 0 else assert_search_parameters(${known}) end`;

const archiveSql = (key: string): string =>
  `insert into resource_history (updated_at, transaction_id, version, type, id, method, body)
   select updated_at, transaction_id, version, type, id, method, body from resource where resource_key = ${key}`;

const withSteps = (steps: readonly string[], main: string): string =>
  `${steps.length === 0 ? '' : `with ${steps.map((sql, index) => `c${index} as (${sql})`).join(',\n')}\n`}${main}`;

const TOMBSTONE = `insert into resource_history (updated_at, version, type, id, method, body)
   select $3::timestamptz, $2::integer, type, id, 'DELETE', null from resource where resource_key = $1`;

const DELETE: Statement = {
  name: 'resource-delete',
  text: withSteps(
    [...[archiveSql('$1'), TOMBSTONE], ...SEARCH_TABLES.flatMap(({ replaceSql }) => replaceSql('s.resource_key = $1'))],
    'delete from resource where resource_key = $1',
  ),
};

type NamedColumn = readonly [name: string, type: ArrayElementType, ...others: readonly unknown[]];

/** Collects values and data-modifying CTEs. The same combination of tables gives the same statement name and text. */
export class ChangeBinder {
  private readonly values: unknown[] = [];
  private readonly changes: (() => readonly string[])[] = [];

  constructor(private name: string) {}

  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** @returns a function that makes the SQL of the arrays, as a relation `u` with these columns */
  bindArrays(columns: readonly NamedColumn[], arrays: readonly (readonly unknown[])[]): () => string {
    const places = columns.map(([, type], index) => this.bind(binaryArray(type, arrays[index] ?? [])));
    return () =>
      `unnest(${columns.map(([, type], index) => `${places[index]}::${type}[]`).join(', ')}) u(${columns.map(([name]) => name).join(', ')})`;
  }

  /** Adds CTEs. Their SQL is made at the first use of the statement only. */
  add(sqlOf: () => readonly string[]): void {
    this.changes.push(sqlOf);
  }

  /**
   * Adds the change of one table for one resource. The statement name gets the letter of the table if it has rows, and
   * the capital letter if not.
   * @param sqlOf makes SQL over the rows of the table, or over undefined if it has none
   */
  change(
    { letter, columns }: SearchTable,
    values: ColumnValues = [],
    sqlOf: (unnest: string | undefined) => readonly string[],
  ): void {
    const hasRows = (values[0]?.length ?? 0) > 0;
    this.name += hasRows ? letter : letter.toUpperCase();
    const unnest = hasRows ? this.bindArrays(columns, values) : undefined;
    this.add(() => sqlOf(unnest?.()));
  }

  join({ name, values, sqlOf }: StatementPart): void {
    this.name += ` ${name}`;
    const places = values.map((value) => this.bind(value));
    this.add(() => [sqlOf(places)]);
  }

  finish(main: () => string, ...more: readonly string[]): BoundStatement {
    const textOf = (): string => withSteps([...more, ...this.changes.flatMap((sqlOf) => sqlOf())], main());
    return { statement: statementNamed(this.name, textOf), values: this.values };
  }
}
