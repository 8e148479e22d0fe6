import { type SearchQuery, type SortKey } from '../search-query';
import { type Binder } from './binder';
import { withJoinedDates } from './date-bounds';
import { valueOf } from './order';
import { Predicates } from './predicate';

/** The rows that an index has in the order of a sort key. */
interface SortedRows {
  readonly table: string;
  /** On alias `w`. */
  readonly value: string;
  readonly cast: 'timestamptz' | 'text' | 'double precision';
  readonly condition: string;
  /** Beside parameter and value, what makes a row `o` another one of the same resource as row `of`. */
  readonly isSameResource: (row: string, of: string) => string;
}

const byKey = (row: string, of: string): string => `${row}.resource_key = ${of}.resource_key`;

const ROWS: Readonly<Record<'string' | 'date' | 'number', SortedRows>> = {
  string: {
    table: 'search_string',
    value: `left(w.value, 256) collate "C"`,
    cast: 'text',
    condition: '',
    isSameResource: byKey,
  },
  date: { table: 'search_date', value: 'w.low', cast: 'timestamptz', condition: '', isSameResource: byKey },
  number: {
    table: 'search_number',
    value: 'w.value',
    cast: 'double precision',
    condition: ' and w.code_hash = 0',
    isSameResource: (row, of) => `${row}.main_date = ${of}.main_date and ${byKey(row, of)}`,
  },
};

/**
 * SQL of (resource_key, s0): the matches in the order of one sort key, from the rows of the key's index; behind them those
 * without a value. Undefined where the order is no index's, or the page is read backwards.
 */
export function sortWalkOf(query: SearchQuery, sort: readonly SortKey[], bind: Binder): string | undefined {
  const { position, type, count, offset = 0 } = query;
  const [key, ...others] = sort;
  const by = key?.by;
  if (key === undefined || others.length > 0 || (by?.kind !== 'string' && by?.kind !== 'date' && by?.kind !== 'number'))
    return undefined;
  const [parameterId, ...more] = by.parameterIds;
  if (parameterId === undefined || more.length > 0) return undefined;
  // Numbers go with their code, so that matches may stand far from where a walk begins.
  if (by.kind === 'number' && query.clauses.length > 0) return undefined;
  if (position !== undefined && (position.side === 'before' || position.values[0] === null)) return undefined;

  const { table, value, cast, condition, isSameResource } = ROWS[by.kind];
  const [direction, isBehind, comesFirst] = key.isDescending ? ['desc', '<', '>'] : ['asc', '>', '<'];
  const id = `${bind.value(parameterId)}::integer`;
  const limit = bind.value(offset + count + 1);
  const predicates = new Predicates(bind);
  const tests = withJoinedDates(query.clauses)
    .map((clause) => ` and ${predicates.of(clause, { name: 'c', isResource: true })}`)
    .join('');
  const rowOf = (row: string, of: string): string =>
    `select true from ${table} ${row} where ${row}.parameter_id = ${id}${condition.replace('w.', `${row}.`)} and ${isSameResource(row, of)}`;
  const keyset =
    position === undefined
      ? ''
      : ` and (${value}, w.resource_key) ${isBehind} (${bind.value(valueOf(position.values[0], cast))}::${cast}, ${bind.value(position.key)}::bigint)`;
  // Of several values of a resource the first in the order counts.
  const isFirst = `(${rowOf('o', 'w')} and ${value.replace('w.', 'o.')} ${comesFirst} ${value} limit 1) is not true`;
  const isMatch =
    tests === ''
      ? ''
      : ` and (select true from (select * from resource r where r.resource_key = w.resource_key limit 1) c where true${tests}) is true`;
  return `with valued as materialized (select distinct ${value} as s0, w.resource_key from ${table} w
where w.parameter_id = ${id}${condition}${keyset} and ${isFirst}${isMatch}
order by s0 ${direction}, w.resource_key ${direction} limit ${limit})
select v.resource_key, v.s0 from valued v
union all (select c.resource_key, null from resource c where (select count(*) from valued) < ${limit}
and c.type = ${bind.value(type)} and (${rowOf('o', 'c')} limit 1) is not true${tests} order by c.resource_key ${direction} limit ${limit})`;
}
