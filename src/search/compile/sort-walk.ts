import { type SearchQuery, type SortKey } from '../query/search-query';
import { type Binder } from '../../store/binder';
import { type Candidates } from './candidates';
import { valueOf } from './order';

/** Index rows that are stored in the order of a sort key. */
interface SortedRows {
  readonly table: string;
  readonly parameterIds: readonly number[];
  readonly value: string;
  readonly cast: 'timestamptz' | 'text' | 'double precision';
  /** For numbers: the hash of the code that a composite parameter pairs with them; 0 for numbers without a code. */
  readonly codeHash?: number;
}

export interface SortWalk {
  /** SQL that selects `resource_key, s0` in order. */
  readonly sql: string;
  /** Whether nearly every row of the index matches, so that the walk passes few others. */
  readonly isNear: boolean;
}

/**
 * SQL that reads matches in the order of one sort key, from the index of that key. Matches without a value come last.
 * Undefined if no index has the order, or if the page is read backwards.
 */
export function sortWalkOf(
  query: SearchQuery,
  sort: readonly SortKey[],
  candidates: Candidates,
  bind: Binder,
): SortWalk | undefined {
  const { position, type, clauses, count, offset = 0 } = query;
  const [key, ...others] = sort;
  const rows = key && sortedRowsOf(key.by, clauses.length > 0);
  const [parameterId, ...more] = rows?.parameterIds ?? [];
  if (rows === undefined || others.length > 0 || parameterId === undefined || more.length > 0) return undefined;
  if (position !== undefined && (position.side === 'before' || position.values[0] === null)) return undefined;

  const { table, value, cast, codeHash } = rows;
  const [direction, isBehind, comesFirst] = key?.isDescending === true ? ['desc', '<', '>'] : ['asc', '>', '<'];
  const [id, code] = [`${bind.value(parameterId)}::integer`, codeHash === undefined ? '' : bind.value(codeHash)];
  const limit = bind.value(offset + count + 1);
  const isOfKey = (row: string): string =>
    `${row}.parameter_id = ${id}${code === '' ? '' : ` and ${row}.code_hash = ${code}::bigint`}`;
  const isSame = (row: string, other: string): string =>
    `${code === '' ? '' : `${row}.main_date = ${other}.main_date and `}${row}.resource_key = ${other}.resource_key`;
  const rowOf = (other: string): string =>
    `select true from ${table} o where ${isOfKey('o')} and ${isSame('o', other)}`;
  const keyset =
    position === undefined
      ? ''
      : ` and (w.${value}, w.resource_key) ${isBehind} (${bind.value(valueOf(position.values[0], cast))}::${cast}, ${bind.value(position.key)}::bigint)`;
  const tests = candidates.testOf(type, clauses, { name: 'w', isResource: false });
  // If a resource has several values, only the one that comes first in the order counts.
  const isFirst = `(${rowOf('w')} and o.${value} ${comesFirst} w.${value} limit 1) is not true`;
  const sql = `with valued as materialized (select distinct w.${value} as s0, w.resource_key from ${table} w
where ${isOfKey('w')}${keyset} and ${isFirst}${tests}
order by s0 ${direction}, w.resource_key ${direction} limit ${limit})
select v.resource_key, v.s0 from valued v
union all (select c.resource_key, null from (${allOf(type, clauses, candidates, bind)}) c where (select count(*) from valued) < ${limit}
and (${rowOf('c')} limit 1) is not true order by c.resource_key ${direction} limit ${limit})`;
  return { sql, isNear: codeHash !== undefined && codeHash !== 0 };
}

/** All matches. Without clauses, these are all resources of the type. */
function allOf(type: string, clauses: SearchQuery['clauses'], candidates: Candidates, bind: Binder): string {
  return clauses.length === 0
    ? `select r.main_date, r.resource_key from resource r where r.type = ${bind.value(type)}`
    : `${candidates.eachOnce(type, clauses)} offset 0`;
}

function sortedRowsOf(by: SortKey['by'], hasClauses: boolean): SortedRows | undefined {
  switch (by.kind) {
    case 'string':
      return { table: 'search_string', parameterIds: by.parameterIds, value: 'beginning', cast: 'text' };
    case 'date':
      return { table: 'search_date', parameterIds: by.parameterIds, value: 'low', cast: 'timestamptz' };
    case 'number': {
      const numbers = { table: 'search_number', value: 'value', cast: 'double precision' } as const;
      if (by.paired !== undefined) return { ...numbers, ...by.paired };
      // The index orders numbers by value over all resources. With clauses, a walk might pass many rows before it finds
      // a match.
      return hasClauses ? undefined : { ...numbers, parameterIds: by.parameterIds, codeHash: 0 };
    }
    default:
      return undefined;
  }
}
