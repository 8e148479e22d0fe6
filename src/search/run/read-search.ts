import { assertGivenOnce } from '../../platform/http/known-parameters';
import { explainOptionsOf } from '../query/explain-options';
import { includesOf } from '../include/read-includes';
import { type SearchScope } from '../parse/search-scope';
import { sortOf } from '../parse/sort';
import { invalid } from '../parse/values';
import { type ParsedSearch, parseSearch } from '../parse/parse-search';
import { type SearchRequest } from './resource-search';
import { countOf, isArrayResult, pageOf, SINGLE_PARAMETERS, timeoutOf, totalModeOf } from '../query/result-parameters';
import { parsePosition } from '../query/search-position';
import { type PagePosition, type SortKey } from '../query/search-query';

export interface ReadSearch extends SearchRequest {
  /** The parameters that were applied, as the `self` link shows them: without a position. */
  readonly used: URLSearchParams;
  /** The page number; absent if the page is not requested by number. */
  readonly page?: number;
  readonly isArray: boolean;
  readonly timeoutSeconds?: number;
}

/** Result parameters that the links of an answer repeat as sent. */
const REPEATED = ['_total', '_sort', '_elements', '_summary', '_result', '_format', '_pretty'];

/**
 * @param mostSeconds upper limit of `_timeout`
 * @throws ServiceError 'invalid' naming an unknown or malformed parameter
 */
export function readSearch(query: URLSearchParams, scope: SearchScope, mostSeconds: number): ReadSearch {
  const { clauses, used: matched } = parseSearch(query, scope);
  const sort = sortOf(query, scope);
  const includes = includesOf(query, scope);
  const shape = answerShapeOf(query, matched, sort, mostSeconds);
  const { count, position, used } = shape;
  if (sort.length === 0) used.delete('_sort');
  else used.set('_sort', sort.map(({ sent }) => sent).join(','));
  const page = pageOf(query, count);
  if (page !== undefined && position !== undefined)
    throw invalid('_page', `and "_${position.side}" exclude each other`);
  const explain = explainOptionsOf(query);
  return {
    type: scope.type,
    clauses,
    sort,
    includes,
    ...shape,
    ...(explain === undefined ? {} : { explain }),
    ...(page === undefined ? {} : { page, offset: (page - 1) * count }),
  };
}

type AnswerShape = Pick<ReadSearch, 'count' | 'total' | 'position' | 'isArray' | 'timeoutSeconds' | 'used'>;

/**
 * Reads the parameters that shape the answer of a search of one type or several.
 * @param matched parameters of the clauses, as the links of the answer write them
 */
export function answerShapeOf(
  query: URLSearchParams,
  matched: ParsedSearch['used'],
  sort: readonly SortKey[],
  mostSeconds: number,
): AnswerShape {
  assertGivenOnce(query, SINGLE_PARAMETERS);
  const count = countOf(query);
  const position = positionOf(query, sort);
  const timeout = query.get('_timeout');
  const timeoutSeconds = timeoutOf(timeout === '' ? null : timeout, mostSeconds);
  const used = new URLSearchParams();
  for (const [name, value] of [...matched, ...linkedParameters(query)]) used.append(name, value);
  used.set('_count', String(count));
  if (timeoutSeconds !== undefined) used.set('_timeout', String(timeoutSeconds));
  return {
    count,
    total: totalModeOf(query.get('_total')),
    isArray: isArrayResult(query),
    ...(position === undefined ? {} : { position }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    used,
  };
}

const linkedParameters = (query: URLSearchParams): readonly (readonly [string, string])[] =>
  [...query].filter(([name]) => REPEATED.includes(name) || /^_(rev)?include(:|$)/.test(name));

/** @throws ServiceError 'invalid' for a position that belongs to a search with another `_sort` */
function positionOf(query: URLSearchParams, sort: readonly SortKey[]): PagePosition | undefined {
  const [after, before] = [query.get('_after'), query.get('_before')];
  if (after !== null && before !== null) throw invalid('_before', 'and "_after" exclude each other');
  const position =
    after !== null ? parsePosition('after', after) : before !== null ? parsePosition('before', before) : undefined;
  if (position !== undefined && position.values.length !== Math.max(1, sort.length))
    throw invalid(`_${position.side}`, 'belongs to a search with another _sort; begin again at the first page');
  return position;
}
