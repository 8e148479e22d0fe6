import { type ArrayElementType } from '../../platform/database/binary-array';
import { type SearchRows } from '../search/extract/search-rows';

/** Where a statement takes the rows of a table from: expressions over `u`, which has the table's columns as `c0`, `c1` … */
export interface RowSource {
  /** The key and main date of the resource that a row belongs to. */
  readonly key: string;
  readonly mainDate: string;
  /** The arrays of the statement as `u`. */
  readonly unnest: string;
}

/** One search table: how its rows become arrays of a statement, and the SQL that adds or removes them. */
export interface SearchTable {
  /** Stands for the table in statement names. */
  readonly letter: string;
  /** The element types of the arrays. */
  readonly types: readonly ArrayElementType[];
  /** One array a column; all of one length. Times are epoch milliseconds. */
  readonly columnsOf: (rows: SearchRows) => readonly unknown[][];
  readonly insertSql: (from: RowSource) => string;
  /** Removes by the exact key of the table's index: the rows have no index by resource, which would double their cost. */
  readonly deleteSql?: (from: RowSource) => string;
}

const tokens: SearchTable = {
  letter: 't',
  types: ['bigint', 'integer', 'bigint'],
  columnsOf: (rows) => [
    rows.tokens.map(({ hash }) => hash),
    rows.tokens.map(({ systemHash }) => systemHash),
    rows.tokens.map(() => rows.patientHash),
  ],
  insertSql: ({ key, mainDate, unnest }) =>
    `insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
     select u.c0, ${mainDate}, ${key}, u.c2, u.c1 from ${unnest}`,
  deleteSql: ({ key, mainDate, unnest }) =>
    `delete from search_token s using ${unnest}
     where s.token_hash = u.c0 and s.main_date = ${mainDate} and s.resource_key = ${key} and s.system_hash = u.c1 and s.patient_hash = u.c2`,
};

const references: SearchTable = {
  letter: 'r',
  types: ['bigint', 'integer'],
  columnsOf: (rows) => [
    rows.references.map(({ targetHash }) => targetHash),
    rows.references.map(({ parameterId }) => parameterId),
  ],
  insertSql: ({ key, mainDate, unnest }) =>
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
     select u.c0, ${mainDate}, ${key}, u.c1 from ${unnest}`,
  deleteSql: ({ key, mainDate, unnest }) =>
    `delete from reference_link s using ${unnest}
     where s.target_hash = u.c0 and s.parameter_id = u.c1 and s.main_date = ${mainDate} and s.resource_key = ${key}`,
};

const dates: SearchTable = {
  letter: 'd',
  types: ['integer', 'timestamptz', 'timestamptz'],
  columnsOf: (rows) => [
    rows.dates.map(({ parameterId }) => parameterId),
    rows.dates.map(({ low }) => low),
    rows.dates.map(({ high }) => high),
  ],
  insertSql: ({ key, mainDate, unnest }) =>
    `insert into search_date (low, high, main_date, resource_key, parameter_id)
     select u.c1, u.c2, ${mainDate}, ${key}, u.c0 from ${unnest}`,
  deleteSql: ({ key, unnest }) =>
    `delete from search_date s using ${unnest}
     where s.parameter_id = u.c0 and s.low = u.c1 and s.high = u.c2 and s.resource_key = ${key}`,
};

const numbers: SearchTable = {
  letter: 'n',
  types: ['integer', 'bigint', 'double precision', 'integer'],
  columnsOf: ({ numbers: rows }) => [
    rows.map(({ parameterId }) => parameterId),
    rows.map(({ codeHash }) => codeHash),
    rows.map(({ value }) => value),
    rows.map(({ unitHash }) => unitHash),
  ],
  insertSql: ({ key, mainDate, unnest }) =>
    `insert into search_number (code_hash, value, main_date, resource_key, parameter_id, unit_hash)
     select u.c1, u.c2, ${mainDate}, ${key}, u.c0, u.c3 from ${unnest}`,
  deleteSql: ({ key, mainDate, unnest }) =>
    `delete from search_number s using ${unnest}
     where s.parameter_id = u.c0 and s.code_hash = u.c1 and s.main_date = ${mainDate} and s.resource_key = ${key}
       and s.value = u.c2 and s.unit_hash = u.c3`,
};

const strings: SearchTable = {
  letter: 's',
  types: ['integer', 'text'],
  columnsOf: ({ strings: rows }) => [rows.map(({ parameterId }) => parameterId), rows.map(({ value }) => value)],
  insertSql: ({ key, mainDate, unnest }) =>
    `insert into search_string (main_date, resource_key, parameter_id, value) select ${mainDate}, ${key}, u.c0, u.c1 from ${unnest}`,
  deleteSql: ({ key, unnest }) =>
    `delete from search_string s using ${unnest}
     where s.resource_key = ${key} and s.parameter_id = u.c0 and s.value = u.c1`,
};

/** A dictionary: searches ask it which units there are. What stands there stays. */
const units: SearchTable = {
  letter: 'u',
  types: ['integer', 'text', 'text', 'text'],
  columnsOf: ({ units: rows }) => [
    rows.map(({ unitHash }) => unitHash),
    rows.map(({ system = '' }) => system),
    rows.map(({ code = '' }) => code),
    rows.map(({ unit = '' }) => unit),
  ],
  // In one order for everybody, so that two writers of new units never wait in a circle.
  insertSql: ({ unnest }) =>
    `insert into search_unit (unit_hash, system, code, unit) select u.c0, u.c1, u.c2, u.c3 from ${unnest} order by 1
     on conflict do nothing`,
};

/** Every search table that is written; the order is part of the statement names. */
export const SEARCH_TABLES: readonly SearchTable[] = [tokens, references, dates, numbers, strings, units];
