import { Binder, type CompiledSearch } from './compile/binder';
import { Candidates, type CandidateOrder } from './compile/candidates';
import { estimateOf, type Frequencies } from './compile/estimate';
import { Predicates } from './compile/predicate';
import { type OrderTerm, PageOrder, termOf, valueOf } from './compile/order';
import { sortWalkOf } from './compile/sort-walk';
import { type PagePosition, type SearchQuery, type SortKey } from './search-query';

/** The order of a search that asks for none: the latest first. */
const DEFAULT_SORT: readonly SortKey[] = [{ by: { kind: 'main-date' }, isDescending: true }];

export interface CompiledPage extends CompiledSearch {
  /** Whether rows come from the end of the page to its beginning. */
  readonly isReversed: boolean;
  readonly terms: readonly Pick<OrderTerm, 'cast'>[];
}

/**
 * The statement that finds one page (and one row more, which tells that another page exists). Columns `s0`, `s1` … hold
 * what the rows are sorted by.
 *
 * The SQL leaves the planner no choice, since it runs with generic plans: one clause drives in index order, the others
 * are probed by exact key in nested loops.
 */
export function compilePage(query: SearchQuery, frequencies: Frequencies = nothingIsFrequent): CompiledPage {
  const sort = query.sort === undefined || query.sort.length === 0 ? DEFAULT_SORT : query.sort;
  const [first, ...others] = sort;
  if (first === undefined || others.length > 0) return byValues(query, sort, frequencies);
  if (first.by.kind === 'main-date') return byMainDate(query, first.isDescending, frequencies);
  if (first.by.kind === 'updated' && !isGathered(query, frequencies)) return byUpdated(query, first.isDescending);
  return byValues(query, sort, frequencies);
}

/** As {@link compilePage}, but only `s0` and `resource_key`: a body that no column asks for is never read. */
export function compilePlaces(query: SearchQuery, frequencies: Frequencies = nothingIsFrequent): CompiledSearch {
  const { statement, values } = compilePage(query, frequencies);
  const name = statement.name === '' ? '' : `${statement.name}-k`;
  return { statement: { name, text: `select k.s0, k.resource_key from (${statement.text}) k` }, values };
}

/** More matches than this are not gathered where an index has them in the order that is asked for. */
const MOST_SORTED = 1_000;

/** The statement that counts all matches, of whatever page. */
export function compileTotal(
  { type, clauses }: Pick<SearchQuery, 'type' | 'clauses'>,
  frequencies: Frequencies = nothingIsFrequent,
): CompiledSearch {
  const bind = new Binder();
  return bind.finish(`select count(*) as total from (${new Candidates(bind, frequencies).eachOnce(type, clauses)}) m`);
}

/** The indexes hold their rows in this order, so that a page costs what a page holds. */
function byMainDate(query: SearchQuery, isDescending: boolean, frequencies: Frequencies): CompiledPage {
  const bind = new Binder();
  const { position } = query;
  const isReversed = position?.side === 'before';
  const direction = isDescending === isReversed ? 'asc' : 'desc';
  const limit = bind.value(limitOf(query));
  const order: CandidateOrder = {
    keyset:
      position === undefined
        ? ''
        : `and (c.main_date, c.resource_key) ${direction === 'desc' ? '<' : '>'} ${instantKey(position, bind)}`,
    page: (alias) => `order by ${alias}.main_date ${direction}, ${alias}.resource_key ${direction} limit ${limit}`,
  };
  const page = new Candidates(bind, frequencies).of(query.type, query.clauses, order);
  const compiled = bind.finish(`with page as materialized (${page})
select p.main_date as s0, p.resource_key, r.type, r.id, r.reference_hash, r.body
from ${pageOf(query, bind, () => `order by p.main_date ${direction}, p.resource_key ${direction}`)} p cross join lateral (select * from resource b where b.resource_key = p.resource_key limit 1) r
order by p.main_date ${direction}, p.resource_key ${direction}`);
  return { ...compiled, isReversed, terms: [{ cast: 'timestamptz' }] };
}

const instantKey = ({ values, key }: PagePosition, bind: Binder): string =>
  `(${bind.value(valueOf(values[0], 'timestamptz'))}::timestamptz, ${bind.value(key)}::bigint)`;

/** Fewer matches than this are gathered and sorted sooner than the newest of their type are walked through. */
const MOST_GATHERED = 5_000;

function isGathered({ clauses }: SearchQuery, frequencies: Frequencies): boolean {
  const estimates = clauses.map((clause) => estimateOf(clause, frequencies) ?? Infinity);
  return Math.min(Infinity, ...estimates) <= MOST_GATHERED;
}

/** Walks the type in the order of its updates. */
function byUpdated(query: SearchQuery, isDescending: boolean): CompiledPage {
  const { type, clauses, position } = query;
  const bind = new Binder();
  const isReversed = position?.side === 'before';
  const direction = isDescending === isReversed ? 'asc' : 'desc';
  const predicates = new Predicates(bind);
  const tests = [
    `c.type = ${bind.value(type)}`,
    ...clauses.map((clause) => predicates.of(clause, { name: 'c', isResource: true })),
    ...(position === undefined
      ? []
      : [`(c.updated_at, c.resource_key) ${direction === 'desc' ? '<' : '>'} ${instantKey(position, bind)}`]),
  ];
  const order = (alias: string): string =>
    `order by ${alias}.updated_at ${direction}, ${alias}.resource_key ${direction}`;
  const compiled = bind.finish(`with page as materialized (
select c.updated_at, c.resource_key from resource c where ${tests.join(' and ')} ${order('c')} limit ${bind.value(limitOf(query))})
select p.updated_at as s0, p.resource_key, r.type, r.id, r.reference_hash, r.body
from ${pageOf(query, bind, () => order('p'))} p cross join lateral (select * from resource b where b.resource_key = p.resource_key limit 1) r ${order('p')}`);
  return { ...compiled, isReversed, terms: [{ cast: 'timestamptz' }] };
}

/** All matches are gathered and sorted by what they hold; many of them are read in the order of an index, if there is one. */
function byValues(query: SearchQuery, sort: readonly SortKey[], frequencies: Frequencies): CompiledPage {
  const bind = new Binder();
  const terms = sort.map((key) => termOf(key, bind));
  const order = new PageOrder(terms, bind, query.position, limitOf(query));
  const columns = terms.map(({ sql }, index) => `${sql} as s${index}`).join(', ');
  const named = (alias: string) => (_term: OrderTerm, index: number) => `${alias}.s${index}`;
  const matches = new Candidates(bind, frequencies).of(query.type, query.clauses);
  const walk = sortWalkOf(query, sort, bind);
  const sorted = `select k.* from (select h.resource_key, ${columns} from (select distinct m.main_date, m.resource_key from hits m offset 0) h offset 0) k where ${order.keyset('k')}`;
  const page =
    walk === undefined
      ? `${sorted} ${order.orderBy('k', named('k'))}`
      : `select k.* from ((${sorted} and (select count(*) from hits) <= ${MOST_SORTED} ${order.orderBy('k', named('k'))})
union all (select w.* from (${walk}) w where (select count(*) from hits) > ${MOST_SORTED})) k ${order.orderBy('k', named('k'))}`;
  const compiled =
    bind.finish(`with hits as materialized (select m.main_date, m.resource_key from (${matches}) m${walk === undefined ? '' : ` limit ${MOST_SORTED + 1}`}),
page as materialized (${page})
select ${terms.map((_term, index) => `p.s${index}`).join(', ')}, p.resource_key, r.type, r.id, r.reference_hash, r.body
from ${pageOf(query, bind, () => order.orderBy('p', named('p')))} p cross join lateral (select * from resource b where b.resource_key = p.resource_key limit 1) r
${order.orderBy('p', named('p'))}`);
  return { ...compiled, isReversed: order.isReversed, terms };
}

/** One more than is shown tells that there is another page; what stands before the page has to be walked past. */
const limitOf = ({ count, offset = 0 }: SearchQuery): number => offset + count + 1;

/** The rows of a page without those before it, whose bodies then are not read. */
const pageOf = ({ offset = 0 }: SearchQuery, bind: Binder, order: () => string): string =>
  offset === 0 ? 'page' : `(select * from page p ${order()} offset ${bind.value(offset)})`;

const nothingIsFrequent: Frequencies = { token: () => undefined, target: () => undefined };
