import { type SearchRows } from '../search/extract/search-rows';

/** Places of the values that all rows of one resource share, as `$n` in a statement. */
export interface RowPlaces {
  readonly key: string;
  readonly mainDate: string;
}

/** One search table: how its rows become arrays of a statement, and the SQL that adds or removes them. */
export interface SearchTable {
  /** Stands for the table in statement names. */
  readonly letter: string;
  /** One array a column; all of one length. */
  readonly columnsOf: (rows: SearchRows) => readonly unknown[][];
  readonly insertSql: (at: RowPlaces, columns: readonly string[]) => string;
  /** Removes by the exact key of the table's index: the rows have no index by resource, which would double their cost. */
  readonly deleteSql?: (at: RowPlaces, columns: readonly string[]) => string;
}

const timestamp = (epochMilliseconds: number): string => new Date(epochMilliseconds).toISOString();

const tokens: SearchTable = {
  letter: 't',
  columnsOf: (rows) => [
    rows.tokens.map(({ hash }) => hash),
    rows.tokens.map(({ systemHash }) => systemHash),
    rows.tokens.map(() => rows.patientHash),
  ],
  insertSql: ({ key, mainDate }, [hashes, systems, patients]) =>
    `insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
     select u.h, ${mainDate}, ${key}, u.p, u.s
     from unnest(${hashes}::bigint[], ${systems}::integer[], ${patients}::bigint[]) u(h, s, p)`,
  deleteSql: ({ key, mainDate }, [hashes, systems, patients]) =>
    `delete from search_token s using unnest(${hashes}::bigint[], ${systems}::integer[], ${patients}::bigint[]) u(h, s, p)
     where s.token_hash = u.h and s.main_date = ${mainDate} and s.resource_key = ${key} and s.system_hash = u.s and s.patient_hash = u.p`,
};

const references: SearchTable = {
  letter: 'r',
  columnsOf: (rows) => [
    rows.references.map(({ targetHash }) => targetHash),
    rows.references.map(({ parameterId }) => parameterId),
  ],
  insertSql: ({ key, mainDate }, [targets, parameters]) =>
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
     select u.t, ${mainDate}, ${key}, u.p from unnest(${targets}::bigint[], ${parameters}::integer[]) u(t, p)`,
  deleteSql: ({ key, mainDate }, [targets, parameters]) =>
    `delete from reference_link s using unnest(${targets}::bigint[], ${parameters}::integer[]) u(t, p)
     where s.target_hash = u.t and s.parameter_id = u.p and s.main_date = ${mainDate} and s.resource_key = ${key}`,
};

const dates: SearchTable = {
  letter: 'd',
  columnsOf: (rows) => [
    rows.dates.map(({ parameterId }) => parameterId),
    rows.dates.map(({ low }) => timestamp(low)),
    rows.dates.map(({ high }) => timestamp(high)),
  ],
  insertSql: ({ key }, [parameters, lows, highs]) =>
    `insert into search_date (low, high, resource_key, parameter_id)
     select u.l, u.h, ${key}, u.p from unnest(${parameters}::integer[], ${lows}::timestamptz[], ${highs}::timestamptz[]) u(p, l, h)`,
  deleteSql: ({ key }, [parameters, lows, highs]) =>
    `delete from search_date s using unnest(${parameters}::integer[], ${lows}::timestamptz[], ${highs}::timestamptz[]) u(p, l, h)
     where s.parameter_id = u.p and s.low = u.l and s.high = u.h and s.resource_key = ${key}`,
};

const numbers: SearchTable = {
  letter: 'n',
  columnsOf: ({ numbers: rows }) => [
    rows.map(({ parameterId }) => parameterId),
    rows.map(({ codeHash }) => codeHash),
    rows.map(({ value }) => value),
    rows.map(({ unitHash }) => unitHash),
  ],
  insertSql: ({ key, mainDate }, [parameters, codes, values, units]) =>
    `insert into search_number (code_hash, value, main_date, resource_key, parameter_id, unit_hash)
     select u.c, u.v, ${mainDate}, ${key}, u.p, u.u
     from unnest(${parameters}::integer[], ${codes}::bigint[], ${values}::double precision[], ${units}::integer[]) u(p, c, v, u)`,
  deleteSql: ({ key, mainDate }, [parameters, codes, values, units]) =>
    `delete from search_number s
     using unnest(${parameters}::integer[], ${codes}::bigint[], ${values}::double precision[], ${units}::integer[]) u(p, c, v, u)
     where s.parameter_id = u.p and s.code_hash = u.c and s.main_date = ${mainDate} and s.resource_key = ${key}
       and s.value = u.v and s.unit_hash = u.u`,
};

const strings: SearchTable = {
  letter: 's',
  columnsOf: ({ strings: rows }) => [rows.map(({ parameterId }) => parameterId), rows.map(({ value }) => value)],
  insertSql: ({ key }, [parameters, values]) =>
    `insert into search_string (resource_key, parameter_id, value)
     select ${key}, u.p, u.v from unnest(${parameters}::integer[], ${values}::text[]) u(p, v)`,
  deleteSql: ({ key }, [parameters, values]) =>
    `delete from search_string s using unnest(${parameters}::integer[], ${values}::text[]) u(p, v)
     where s.resource_key = ${key} and s.parameter_id = u.p and s.value = u.v`,
};

/** A dictionary: searches ask it which units there are. What stands there stays. */
const units: SearchTable = {
  letter: 'u',
  columnsOf: ({ units: rows }) => [
    rows.map(({ unitHash }) => unitHash),
    rows.map(({ system = '' }) => system),
    rows.map(({ code = '' }) => code),
    rows.map(({ unit = '' }) => unit),
  ],
  insertSql: (_at, [hashes, systems, codes, texts]) =>
    `insert into search_unit (unit_hash, system, code, unit)
     select * from unnest(${hashes}::integer[], ${systems}::text[], ${codes}::text[], ${texts}::text[]) order by 1
     on conflict do nothing`,
};

/** Every search table that is written; the order is part of the statement names. */
export const SEARCH_TABLES: readonly SearchTable[] = [tokens, references, dates, numbers, strings, units];
