import { Binder, type BoundStatement } from '../../store/binder';
import { type CandidateOrder, Candidates, flattened } from './candidates';
import { estimateOf, type Frequencies, nothingIsFrequent, resourcesOf } from './estimate';
import { type OrderTerm, PageOrder, termOf, valueOf, valueSqlOf } from './order';
import { isOfResources, sortWalkOf } from './sort-walk';
import { FOUND_COLUMNS, foundColumns } from './found-resource';
import { type PagePosition, type SearchClause, type SearchQuery, type SortKey } from '../query/search-query';

/** Default order: by main date (the clinical date, else the time of creation), latest first. */
const DEFAULT_SORT: readonly SortKey[] = [{ by: { kind: 'main-date' }, isDescending: true }];

export interface PageQuery extends SearchQuery {
  /**
   * Adds a column `total`: the number of all matches. It is null if the page holds the last match and does not begin at
   * a position from a link, since the page itself then shows the number. A separate statement would cost one more round
   * trip.
   */
  readonly isCounted?: boolean;
}

export interface CompiledPage extends BoundStatement {
  /** Whether the rows come from the end of the page to its beginning. */
  readonly isReversed: boolean;
  readonly terms: readonly Pick<OrderTerm, 'cast'>[];
}

/**
 * Compiles the statement that finds one page, plus one row that shows whether another page exists. Columns `s0`, `s1` …
 * hold the sort values; of the resources, the rows hold only the first bodies (see {@link foundColumns}).
 * The statement runs with a generic plan, for which the planner does not see the values. So the SQL itself fixes the
 * order of the work: the rows of one clause are read in index order, and each other clause is tested by a lookup of its
 * exact key in a nested loop.
 */
export function compilePage(query: PageQuery, frequencies: Frequencies = nothingIsFrequent): CompiledPage {
  const sort = query.sort === undefined || query.sort.length === 0 ? DEFAULT_SORT : query.sort;
  const [first, ...others] = sort;
  return first?.by.kind === 'main-date' && others.length === 0
    ? byMainDate(query, first.isDescending, frequencies)
    : byValues(query, sort, frequencies);
}

/** Like {@link compilePage}, but without bodies: PostgreSQL never reads a body that no column needs. */
export function compilePlaces(query: SearchQuery, frequencies: Frequencies = nothingIsFrequent): BoundStatement {
  const { statement, values } = compilePage(query, frequencies);
  const name = statement.name === '' ? '' : `${statement.name}-k`;
  const text = `select k.s0, ${FOUND_COLUMNS.map((column) => `k.${column}`).join(', ')}, k.bytes, null as body from (${statement.text}) k`;
  return { statement: { name, text }, values };
}

export function compileTotal(
  { type, clauses }: Pick<SearchQuery, 'type' | 'clauses'>,
  frequencies: Frequencies = nothingIsFrequent,
): BoundStatement {
  const bind = new Binder();
  return bind.finish(`select ${countOf(type, clauses, new Candidates(bind, frequencies))} as total`);
}

const countOf = (type: string, clauses: readonly SearchClause[], candidates: Candidates): string =>
  `(select count(*) from (${candidates.eachOnce(type, clauses)}) m)`;

/**
 * Compiles a page by main date (the clinical date, else the time of creation). The indexes hold rows in this order, so
 * the cost of such a page depends only on its size.
 */
function byMainDate(query: PageQuery, isDescending: boolean, frequencies: Frequencies): CompiledPage {
  const { type, clauses, position } = query;
  const bind = new Binder();
  const isReversed = position?.side === 'before';
  const direction = isDescending === isReversed ? 'asc' : 'desc';
  const limit = bind.value(limitOf(query));
  const orderBy = (alias: string): string =>
    `order by ${alias}.main_date ${direction}, ${alias}.resource_key ${direction}`;
  const order: CandidateOrder = {
    keyset:
      position === undefined
        ? ''
        : `and (c.main_date, c.resource_key) ${direction === 'desc' ? '<' : '>'} ${instantKey(position, bind)}`,
    isDescending: direction === 'desc',
    by: orderBy,
    page: (alias) => `${orderBy(alias)} limit ${limit}`,
  };
  const candidates = new Candidates(bind, frequencies);
  const compiled = bind.finish(`with page as materialized (${candidates.of(type, clauses, order)})
${shownRows(query, 'p.main_date as s0', orderBy('p'), candidates, bind)}`);
  return { isReversed, terms: [{ cast: 'timestamptz' }], ...compiled };
}

const instantKey = ({ values, key }: PagePosition, bind: Binder): string =>
  `(${bind.value(valueOf(values[0], 'timestamptz'))}::timestamptz, ${bind.value(key)}::bigint)`;

/**
 * Compiles a page by sort values: gathers all matches and sorts them. If there are many and an index has the order of
 * the first key, the statement walks that index instead. If a walk along resources passes as many as there are matches
 * before the page is full, the statement gathers all matches after all.
 */
function byValues(query: PageQuery, sort: readonly SortKey[], frequencies: Frequencies): CompiledPage {
  const bind = new Binder();
  const terms = sort.map(termOf);
  const order = new PageOrder(terms, bind, query.position, limitOf(query));
  const candidates = new Candidates(bind, frequencies);
  const mostSorted = mostSortedOf(query, sort, frequencies);
  const mostWalked = mostSorted === 0 && isOfResources(sort[0]) ? matchesOf(query, frequencies) : Infinity;
  const walk = sortWalkOf(query, sort, order, candidates, bind, mostWalked);
  const whole = (page: string): CompiledPage => {
    const columns = terms.map((_term, index) => `p.s${index}`).join(', ');
    const compiled = bind.finish(`with ${page}
${shownRows(query, columns, order.by('p'), candidates, bind)}`);
    return { isReversed: order.isReversed, terms, ...compiled };
  };
  if (walk !== undefined && mostSorted === 0 && mostWalked === Infinity)
    return whole(`page as materialized (select k.* from (${walk}) k ${order.page('k')})`);
  const columns = sort.map((key, index) => `${valueSqlOf(key, bind)} as s${index}`).join(', ');
  const hits = `select m.main_date, m.resource_key from (${candidates.of(query.type, query.clauses)}) m`;
  const sorted = `select k.* from (select h.resource_key, ${columns} from (select distinct m.main_date, m.resource_key from hits m offset 0) h offset 0) k where ${order.keyset('k')}`;
  if (walk === undefined)
    return whole(`hits as materialized (${hits}),
page as materialized (${sorted} ${order.page('k')})`);
  if (mostSorted === 0)
    return whole(`walked as materialized (select k.* from (${walk}) k ${order.page('k')}),
filled as materialized (select count(*) = ${bind.value(limitOf(query))}::integer as is_full from walked),
hits as materialized (${hits}),
page as materialized (select k.* from (select w.* from walked w where (select is_full from filled)
union all (${sorted} and not (select is_full from filled) ${order.page('k')})) k ${order.page('k')})`);
  const most = `${bind.value(mostSorted)}::integer`;
  return whole(`hits as materialized (${hits} limit ${most} + 1),
gathered as materialized (select count(*) <= ${most} as is_all from hits),
page as materialized (select k.* from ((${sorted} and (select is_all from gathered) ${order.page('k')})
union all (select w.* from (${walk}) w where not (select is_all from gathered))) k ${order.page('k')})`);
}

/** With more estimated matches than this, the resources of the type are walked without a look at the number first. */
const MOST_GATHERED = 5_000;

/**
 * The number of matches up to which they are gathered and sorted; with more, an index in the requested order is walked.
 * Sorting costs by the number of matches, a walk by the gaps between them. 0 if there are certainly more, or if nearly
 * every row of the walk is a match.
 */
function mostSortedOf(query: SearchQuery, [first]: readonly SortKey[], frequencies: Frequencies): number {
  if (first?.by.kind === 'number' && first.by.paired !== undefined) return 0;
  if (first?.by.kind === 'string' || first?.by.kind === 'date' || first?.by.kind === 'number') {
    // At this number both cost the same.
    const most = Math.sqrt(limitOf(query) * resourcesOf(query.type, frequencies));
    return Math.min(Math.max(Math.round(most), 50), 2_000);
  }
  // Matches may lie together in the order of updates, far from its beginning. So more of them are gathered.
  const isByTime = query.clauses.flatMap(flattened).some(({ kind }) => kind === 'date' || kind === 'updated');
  // An index finds the resources of a time, of which there may be few. In the order of updates they lie together.
  if (isByTime && first?.by.kind !== 'updated') return MOST_GATHERED;
  return matchesOf(query, frequencies) > MOST_GATHERED ? 0 : MOST_GATHERED;
}

/** The estimated number of matches at most, without the conditions on the time of update; Infinity if unknown. */
const matchesOf = ({ clauses }: SearchQuery, frequencies: Frequencies): number =>
  Math.round(estimateOf({ kind: 'all', clauses: clauses.flatMap(flattened) }, frequencies));

/** The number of rows to read: those before the page, those of the page, and one more that reveals another page. */
const limitOf = ({ count, offset = 0 }: SearchQuery): number => offset + count + 1;

/**
 * Selects the rows of the CTE `page` with their resources. Resources before the offset of a numbered page are not read.
 */
function shownRows(
  { type, clauses, position, count, offset = 0, isCounted = false }: PageQuery,
  sortedBy: string,
  order: string,
  candidates: Candidates,
  bind: Binder,
): string {
  const page = offset === 0 ? 'page' : `(select * from page p ${order} offset ${bind.value(offset)})`;
  // The count is a scalar subquery: PostgreSQL runs it once, and only if a row of the page needs it.
  const total = (): string => {
    const all = countOf(type, clauses, candidates);
    if (position !== undefined) return all;
    return `case when (select count(*) from page) > ${bind.value(offset + count)}::integer then ${all} end`;
  };
  return `select ${sortedBy}, ${isCounted ? `${total()} as total, ` : ''}${foundColumns('r', order)}
from ${page} p cross join lateral (select * from resource b where b.resource_key = p.resource_key limit 1) r
${order}`;
}
