import { type ArrayElementType } from '../platform/database/binary-array';
import { type Steps } from '../platform/time/steps';
import { type SearchRows, type UnitRow } from '../search-index/extract/search-rows';

/** A column of an index table, and its values in the rows of a resource. Times are epoch milliseconds. */
type Column = readonly [name: string, type: ArrayElementType, valuesOf: (rows: SearchRows) => readonly unknown[]];

/** The rows of one resource in one table, as an array of values for each column. */
export type ColumnValues = readonly (readonly unknown[])[];

/** Where a statement reads the new rows of a table, as a relation `u` with its columns by name. */
export interface RowSource {
  /** SQL of the key and of the main date of the resource. */
  readonly key: string;
  readonly mainDate: string;
  /** SQL that gives the arrays of the statement as `u`. */
  readonly unnest: string;
}

/** A table of rows that are written together with a resource. */
export interface SearchTable {
  /** The letter of the table in statement names. */
  readonly letter: string;
  readonly columns: readonly Column[];
  readonly insertSql: (from: RowSource) => string;
  /**
   * Replaces the rows of stored resources by those of `from`; without `from`, only removes them.
   * @param owned SQL condition: row `s` belongs to a resource of the statement
   */
  readonly replaceSql: (owned: string, from?: RowSource) => readonly string[];
}

/**
 * A table of index rows. Its primary key begins with the key of the resource, so it finds the rows of a resource (ADR
 * 0043).
 */
interface IndexTable {
  readonly letter: string;
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns of the primary key after `resource_key`. */
  readonly key: readonly string[];
  /** Columns in which all rows of a resource are equal; they are updated in place. */
  readonly shared: readonly string[];
}

const indexTable = (table: IndexTable): SearchTable => ({
  letter: table.letter,
  columns: table.columns,
  insertSql: (from) => `insert into ${table.name} (${namesOf(table).join(', ')}) ${selectSql(table, from)}`,
  replaceSql: (owned, from) =>
    from === undefined
      ? [`delete from ${table.name} s where ${owned}`]
      : [removeOthersSql(table, owned, from), addMissingSql(table, owned, from)],
});

/**
 * SQL that removes stored rows that are not among the new ones. PostgreSQL hashes the subquery of `not in`, so each
 * stored row is read and compared once.
 */
function removeOthersSql({ name, columns, shared }: IndexTable, owned: string, from: RowSource): string {
  const own = columns.map(([column]) => column).filter((column) => !shared.includes(column));
  return `delete from ${name} s where ${owned} and (s.resource_key, ${columnList('s', own)}) not in (
      select ${from.key}, ${columnList('u', own)} from ${from.unnest})`;
}

/**
 * SQL that inserts the new rows that are missing. Rows that have only another main date or patient are updated in
 * place: CTEs run in no fixed order, so deleting and inserting the same key in one statement would violate the primary
 * key.
 */
function addMissingSql(table: IndexTable, owned: string, from: RowSource): string {
  const names = namesOf(table);
  return `insert into ${table.name} (${names.join(', ')}) ${selectSql(table, from)}
      except select ${columnList('s', names)} from ${table.name} s where ${owned}
      on conflict (resource_key, ${table.key.join(', ')}) do update set ${table.shared.map((name) => `${name} = excluded.${name}`).join(', ')}`;
}

const namesOf = ({ columns }: IndexTable): string[] => ['resource_key', 'main_date', ...columns.map(([name]) => name)];

const selectSql = ({ columns }: IndexTable, { key, mainDate, unnest }: RowSource): string => {
  const names = columns.map(([name]) => name);
  return `select ${key}, ${mainDate}, ${columnList('u', names)} from ${unnest}`;
};

const columnList = (relation: string, names: readonly string[]): string =>
  names.map((name) => `${relation}.${name}`).join(', ');

const tokens = indexTable({
  letter: 't',
  name: 'search_token',
  columns: [
    ['token_hash', 'bigint', (rows) => rows.tokens.map(({ hash }) => hash)],
    ['system_hash', 'integer', (rows) => rows.tokens.map(({ systemHash }) => systemHash)],
    ['patient_hash', 'bigint', (rows) => rows.tokens.map(() => rows.patientHash)],
  ],
  key: ['token_hash', 'system_hash'],
  shared: ['main_date', 'patient_hash'],
});

const references = indexTable({
  letter: 'r',
  name: 'reference_link',
  columns: [
    ['parameter_id', 'integer', (rows) => rows.references.map(({ parameterId }) => parameterId)],
    ['target_hash', 'bigint', (rows) => rows.references.map(({ targetHash }) => targetHash)],
  ],
  key: ['parameter_id', 'target_hash'],
  shared: ['main_date'],
});

const dates = indexTable({
  letter: 'd',
  name: 'search_date',
  columns: [
    ['parameter_id', 'integer', (rows) => rows.dates.map(({ parameterId }) => parameterId)],
    ['low', 'timestamptz', (rows) => rows.dates.map(({ low }) => low)],
    ['high', 'timestamptz', (rows) => rows.dates.map(({ high }) => high)],
  ],
  key: ['parameter_id', 'low', 'high'],
  shared: ['main_date'],
});

const numbers = indexTable({
  letter: 'n',
  name: 'search_number',
  columns: [
    ['parameter_id', 'integer', (rows) => rows.numbers.map(({ parameterId }) => parameterId)],
    ['code_hash', 'bigint', (rows) => rows.numbers.map(({ codeHash }) => codeHash)],
    ['value', 'double precision', (rows) => rows.numbers.map(({ value }) => value)],
    ['unit_hash', 'integer', (rows) => rows.numbers.map(({ unitHash }) => unitHash)],
  ],
  key: ['parameter_id', 'code_hash', 'value', 'unit_hash'],
  shared: ['main_date'],
});

/**
 * The table of texts. A text may be too long for an entry of an index, so the primary key holds the hash of the text.
 */
const strings = indexTable({
  letter: 's',
  name: 'search_string',
  columns: [
    ['parameter_id', 'integer', (rows) => rows.strings.map(({ parameterId }) => parameterId)],
    ['value_hash', 'bigint', (rows) => rows.strings.map(({ valueHash }) => valueHash)],
    ['value', 'text', (rows) => rows.strings.map(({ value }) => value)],
  ],
  key: ['parameter_id', 'value_hash'],
  shared: ['main_date'],
});

const ofUnits =
  (valueOf: (unit: UnitRow) => unknown) =>
  (rows: SearchRows): readonly unknown[] =>
    rows.units.map(valueOf);

// All transactions insert units in the same order, so that two writers of new units never deadlock.
const insertUnitsSql = ({ unnest }: RowSource): string =>
  `insert into search_unit (unit_hash, system, code, unit) select u.unit_hash, u.system, u.code, u.unit from ${unnest} order by 1
   on conflict do nothing`;

/** The dictionary of units, which searches read. Its rows are never removed. */
const units: SearchTable = {
  letter: 'u',
  columns: [
    ['unit_hash', 'integer', ofUnits(({ unitHash }) => unitHash)],
    ['system', 'text', ofUnits(({ system = '' }) => system)],
    ['code', 'text', ofUnits(({ code = '' }) => code)],
    ['unit', 'text', ofUnits(({ unit = '' }) => unit)],
  ],
  insertSql: insertUnitsSql,
  replaceSql: (_owned, from) => (from === undefined ? [] : [insertUnitsSql(from)]),
};

/** The tables whose rows belong to one resource. Stored digests are in this order. */
export const INDEX_TABLES: readonly SearchTable[] = [tokens, references, dates, numbers, strings];

/** All tables written with a resource. The names of statements depend on this order. */
export const SEARCH_TABLES: readonly SearchTable[] = [...INDEX_TABLES, units];

/**
 * The values of all tables in {@link SEARCH_TABLES}, in this order. The generator pauses after each table, since a
 * resource may have hundreds of thousands of rows.
 */
export function* columnsOf(rows: SearchRows): Steps<readonly ColumnValues[]> {
  const tables: ColumnValues[] = [];
  for (const { columns } of SEARCH_TABLES) {
    tables.push(columns.map(([, , valuesOf]) => valuesOf(rows)));
    yield;
  }
  return tables;
}
