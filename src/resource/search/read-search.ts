import { includesOf } from './include/read-includes';
import { type SearchScope } from './parse/search-scope';
import { sortOf } from './parse/sort';
import { invalid } from './parse/values';
import { parseSearch } from './parse-search';
import { type SearchRequest } from './resource-search';
import { countOf, isExplained, totalModeOf } from './result-parameters';
import { parsePosition } from './search-position';
import { type PagePosition, type SortKey } from './search-query';

export interface ReadSearch extends SearchRequest {
  /** The parameters that were used, as the `self` link shows them: without a position. */
  readonly used: URLSearchParams;
}

/** Result parameters that links repeat as they were sent. */
const REPEATED = ['_total', '_sort', '_elements', '_summary', '_format', '_pretty'];

/**
 * Reads a whole search: what must match, and what the answer shall look like.
 * @throws ServiceError 'invalid' naming the parameter that is unknown or malformed
 */
export function readSearch(query: URLSearchParams, scope: SearchScope): ReadSearch {
  const { clauses, used: matched } = parseSearch(query, scope);
  const sort = sortOf(query, scope);
  const includes = includesOf(query, scope);
  const count = countOf(query);
  const position = positionOf(query, sort);
  const used = new URLSearchParams();
  for (const [name, value] of matched) used.append(name, value);
  for (const [name, value] of linkedParameters(query)) used.append(name, value);
  used.set('_count', String(count));
  return {
    type: scope.type,
    clauses,
    sort,
    includes,
    count,
    total: totalModeOf(query),
    isExplained: isExplained(query),
    ...(position === undefined ? {} : { position }),
    used,
  };
}

/** The parameters that shape the answer and that its links repeat. */
export const linkedParameters = (query: URLSearchParams): readonly (readonly [string, string])[] =>
  [...query].filter(([name]) => REPEATED.includes(name) || /^_(rev)?include(:|$)/.test(name));

/** Where the page begins or ends. @throws ServiceError 'invalid' for a position of another sort */
export function positionOf(query: URLSearchParams, sort: readonly SortKey[]): PagePosition | undefined {
  const [after, before] = [query.get('_after'), query.get('_before')];
  if (after !== null && before !== null) throw invalid('_before', 'and "_after" exclude each other');
  const position =
    after !== null ? parsePosition('after', after) : before !== null ? parsePosition('before', before) : undefined;
  if (position !== undefined && position.values.length !== Math.max(1, sort.length))
    throw invalid(`_${position.side}`, 'belongs to a search with another _sort; begin again at the first page');
  return position;
}
