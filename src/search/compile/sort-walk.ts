import { type SearchClause, type SearchQuery, type SortKey } from '../query/search-query';
import { type Binder } from '../../store/binder';
import { type Candidates } from './candidates';
import { type PageOrder, valueOf, valueSqlOf } from './order';

/** Rows that an index holds in the order of a sort key. */
interface SortedRows {
  readonly table: string;
  readonly value: string;
  readonly cast: 'timestamptz' | 'text' | 'double precision';
  readonly isOfKey: (row: string) => string;
  /** Whether the rows are resources, which have one value each. */
  readonly areResources?: boolean;
  /** Whether the index holds the main date between value and key of the resource. */
  readonly isByDate?: boolean;
}

/**
 * SQL that reads at least the matches of the page in the order of the first sort key, from the index of that key:
 * `resource_key, s0, s1 …`. Matches without a value come last. With further keys, it also reads all other matches with
 * the first value of the last match; these are few.
 * @param most the number of resources to pass at most, for the orders of {@link isOfResources}; with it, there may be
 *   fewer matches than the page needs
 * @returns undefined if no index has the order, or if the page begins among the matches without a value
 */
export function sortWalkOf(
  query: SearchQuery,
  sort: readonly SortKey[],
  order: PageOrder,
  candidates: Candidates,
  bind: Binder,
  most = Infinity,
): string | undefined {
  const { position, type, clauses, count, offset = 0 } = query;
  const [first, ...others] = sort;
  const from = position?.values[0];
  if (first === undefined || from === null) return undefined;
  const rows = sortedRowsOf(first.by, query, bind);
  if (rows === undefined) return undefined;

  const { table, value, cast, isOfKey, areResources = false, isByDate = false } = rows;
  const [direction, behind] = first.isDescending === order.isReversed ? ['asc', '>'] : ['desc', '<'];
  const limit = bind.value(offset + count + 1);
  const start = (): string => {
    if (position === undefined || from === undefined) return '';
    const at = `${bind.value(valueOf(from, cast))}::${cast}`;
    return others.length === 0
      ? ` and (h.${value}, h.resource_key) ${behind} (${at}, ${bind.value(position.key)}::bigint)`
      : ` and h.${value} ${behind}= ${at}`;
  };
  const rowOf = (other: string): string =>
    `select true from ${table} o where ${isOfKey('o')}${isByDate ? ` and o.main_date = ${other}.main_date` : ''} and o.resource_key = ${other}.resource_key`;
  // If a resource has several values, only the one that comes first in the order counts.
  const isFirst = areResources
    ? ''
    : ` and (${rowOf('h')} and o.${value} ${first.isDescending ? '>' : '<'} h.${value} limit 1) is not true`;
  const testOf = (some: SearchQuery['clauses']): string =>
    candidates.testOf(type, some, { name: 'h', isResource: areResources });
  const once = areResources ? '' : `distinct on (h.${value}, h.resource_key) `;
  const by = `order by h.${value} ${direction}${others.length > 0 && areResources ? '' : `, h.resource_key ${direction}`}`;
  const isByUpdate = ({ kind }: SearchClause): boolean => kind === 'updated';
  // Conditions on the time of update limit the part of the index, so the rows outside do not count.
  const passed = (): string => `(select * from ${table} h
where ${isOfKey('h')}${start()}${testOf(clauses.filter(isByUpdate))} ${by} fetch first (${bind.value(most)}::bigint) rows with ties) h
where true${testOf(clauses.filter((clause) => !isByUpdate(clause)))}`;
  const rowsIn =
    most === Infinity ? `${table} h where ${isOfKey('h')}${start()}${isFirst}${testOf(clauses)}` : passed();
  const walk = `select ${once}h.${value} as s0, h.resource_key, h.main_date from ${rowsIn} ${by}`;
  const further = others.map((key, index) => `, ${valueSqlOf(key, bind)} as s${index + 1}`).join('');
  const columns = (s0: string): string => `select h.resource_key, ${s0} as s0${further}`;
  const valued =
    others.length === 0
      ? `${columns('h.s0')} from (${walk} limit ${limit}) h`
      : `select k.* from (${columns('h.s0')} from (${walk}) h) k where ${order.keyset('k')} order by k.s0 ${direction} fetch first (${limit}) rows with ties`;
  if (areResources || order.isReversed) return valued;
  return `with valued as materialized (${valued})
select v.* from valued v
union all (${columns('null')} from (${allOf(type, clauses, candidates, bind)}) h where (select count(*) from valued) < ${limit}
and (${rowOf('h')} limit 1) is not true${others.length === 0 ? ` order by h.resource_key ${direction} limit ${limit}` : ''})`;
}

function allOf(type: string, clauses: SearchQuery['clauses'], candidates: Candidates, bind: Binder): string {
  return clauses.length === 0
    ? `select r.main_date, r.resource_key from resource r where r.type = ${bind.value(type)}`
    : `${candidates.eachOnce(type, clauses)} offset 0`;
}

/** Whether the index holds resources, which have one value each. */
export const isOfResources = (key: SortKey | undefined): boolean =>
  key?.by.kind === 'id' || key?.by.kind === 'updated' || key?.by.kind === 'main-date';

function sortedRowsOf(by: SortKey['by'], { type, clauses }: SearchQuery, bind: Binder): SortedRows | undefined {
  switch (by.kind) {
    case 'id':
      return resources(type, 'id', 'text', bind);
    case 'updated':
      return resources(type, 'updated_at', 'timestamptz', bind);
    case 'main-date':
      return resources(type, 'main_date', 'timestamptz', bind);
    case 'string':
      return ofParameter(by.parameterIds, { table: 'search_string', value: 'beginning', cast: 'text' }, bind);
    case 'date':
      return ofParameter(by.parameterIds, { table: 'search_date', value: 'low', cast: 'timestamptz' }, bind);
    case 'number': {
      const numbers = { table: 'search_number', value: 'value', cast: 'double precision' } as const;
      if (by.paired !== undefined) return ofParameter(by.paired.parameterIds, numbers, bind, by.paired.codeHash);
      // The index orders numbers by value over all resources. With clauses, a walk might pass many rows before it finds
      // a match.
      return clauses.length > 0 ? undefined : ofParameter(by.parameterIds, numbers, bind, 0);
    }
    default:
      return undefined;
  }
}

const resources = (type: string, value: string, cast: SortedRows['cast'], bind: Binder): SortedRows => {
  const searched = bind.value(type);
  return { table: 'resource', value, cast, areResources: true, isOfKey: (row) => `${row}.type = ${searched}` };
};

/** Rows of one parameter. An index has no order over the rows of several parameters. */
function ofParameter(
  [parameterId, ...more]: readonly number[],
  rows: Pick<SortedRows, 'table' | 'value' | 'cast'>,
  bind: Binder,
  codeHash?: number,
): SortedRows | undefined {
  if (parameterId === undefined || more.length > 0) return undefined;
  const id = `${bind.value(parameterId)}::integer`;
  const code = codeHash === undefined ? undefined : `${bind.value(codeHash)}::bigint`;
  return {
    ...rows,
    isByDate: code !== undefined,
    isOfKey: (row) => `${row}.parameter_id = ${id}${code === undefined ? '' : ` and ${row}.code_hash = ${code}`}`,
  };
}
