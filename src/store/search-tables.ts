import { type ArrayElementType } from '../platform/database/binary-array';
import { type Steps } from '../platform/time/steps';
import { type SearchRows, type UnitRow } from '../search-index/extract/search-rows';

/** A column that is written, and its values; times are epoch milliseconds. */
type Column = readonly [name: string, type: ArrayElementType, valuesOf: (rows: SearchRows) => readonly unknown[]];

/** The rows of one resource in one table: the values of each column. */
export type ColumnValues = readonly (readonly unknown[])[];

/** Where a statement takes the rows of a table from: SQL over `u`, which has the columns of the table by name. */
export interface RowSource {
  /** The key and main date of the resource that a row belongs to. */
  readonly key: string;
  readonly mainDate: string;
  /** The arrays of the statement as `u`. */
  readonly unnest: string;
}

/** A table that is written along with a resource. */
export interface SearchTable {
  /** Stands for the table in statement names. */
  readonly letter: string;
  readonly columns: readonly Column[];
  /** Adds the rows of new resources. */
  readonly insertSql: (from: RowSource) => string;
  /**
   * Makes the rows of stored resources those of `from`, or none.
   * @param owned condition that a row `s` belongs to a resource of the statement
   */
  readonly replaceSql: (owned: string, from?: RowSource) => readonly string[];
}

/** A table of search index rows: the rows of a resource are found by their primary key, which begins with its key (ADR 0043). */
interface IndexTable {
  readonly letter: string;
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns of the primary key after `resource_key`. */
  readonly key: readonly string[];
  /** Columns that all rows of a resource share: they change in place. */
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
 * PostgreSQL gathers the subquery of `not in` into a hash table, even in our sessions, which allow no hash joins: each
 * stored row is read once and compared once.
 */
function removeOthersSql({ name, columns, shared }: IndexTable, owned: string, from: RowSource): string {
  const own = columns.map(([column]) => column).filter((column) => !shared.includes(column));
  return `delete from ${name} s where ${owned} and (s.resource_key, ${listOf('s', own)}) not in (
      select ${from.key}, ${listOf('u', own)} from ${from.unnest})`;
}

/**
 * Adds what is missing. Rows with another main date or patient change in place: a row that one statement removes and
 * adds would violate the primary key, since its CTEs run in no fixed order.
 */
function addMissingSql(table: IndexTable, owned: string, from: RowSource): string {
  const names = namesOf(table);
  return `insert into ${table.name} (${names.join(', ')}) ${selectSql(table, from)}
      except select ${listOf('s', names)} from ${table.name} s where ${owned}
      on conflict (resource_key, ${table.key.join(', ')}) do update set ${table.shared.map((name) => `${name} = excluded.${name}`).join(', ')}`;
}

const namesOf = ({ columns }: IndexTable): string[] => ['resource_key', 'main_date', ...columns.map(([name]) => name)];

const selectSql = ({ columns }: IndexTable, { key, mainDate, unnest }: RowSource): string => {
  const names = columns.map(([name]) => name);
  return `select ${key}, ${mainDate}, ${listOf('u', names)} from ${unnest}`;
};

const listOf = (relation: string, names: readonly string[]): string =>
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

/** A text may be longer than an entry of an index: the key has its hash. */
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

// One order in all transactions, so that two writers of new units never wait in a circle.
const insertUnitsSql = ({ unnest }: RowSource): string =>
  `insert into search_unit (unit_hash, system, code, unit) select u.unit_hash, u.system, u.code, u.unit from ${unnest} order by 1
   on conflict do nothing`;

/** A dictionary: searches ask it which units there are. Its rows stay. */
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

/** The tables whose rows belong to a resource; the order is that of the digests of stored resources. */
export const INDEX_TABLES: readonly SearchTable[] = [tokens, references, dates, numbers, strings];

/** Every search table that is written; the order is part of the statement names. */
export const SEARCH_TABLES: readonly SearchTable[] = [...INDEX_TABLES, units];

/** The values of all search tables, in their order; with a pause after each, since a resource may have hundreds of thousands of rows. */
export function* columnsOf(rows: SearchRows): Steps<readonly ColumnValues[]> {
  const tables: ColumnValues[] = [];
  for (const { columns } of SEARCH_TABLES) {
    tables.push(columns.map(([, , valuesOf]) => valuesOf(rows)));
    yield;
  }
  return tables;
}
