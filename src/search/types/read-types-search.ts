import { ServiceError } from '../../platform/errors/service-error';
import { explainOptionsOf } from '../query/explain-options';
import { type Include, includesOf } from '../include/read-includes';
import { type SearchScope } from '../parse/search-scope';
import { type OpenScope } from '../parse/search-scopes';
import { alternativesOf, assertType, invalid } from '../parse/values';
import { type ParsedSearch, parseSearch } from '../parse/parse-search';
import { answerShapeOf, type ReadSearch } from '../run/read-search';
import { isResultParameter } from '../query/result-parameters';
import { type TypesSearchRequest } from './types-search';

export type ReadTypesSearch = TypesSearchRequest & Pick<ReadSearch, 'used' | 'isArray' | 'timeoutSeconds'>;

/**
 * The types in `_type` (http://hl7.org/fhir/R4/search.html#all); undefined if absent.
 * @throws ServiceError 'invalid' for an unknown resource type
 */
export function namedTypesOf(query: URLSearchParams, known: SearchScope['parameters']): readonly string[] | undefined {
  const values = query.getAll('_type').filter((value) => value !== '');
  if (values.length === 0) return undefined;
  const types = [...new Set(alternativesOf('_type', values.join(',')))];
  for (const type of types) assertType('_type', type, known);
  return types;
}

/**
 * Reads a search over types. Each parameter must be one that all these types have; without `_type`, all known types.
 * @param searched types to search; types without stored resources may be left out
 * @param mostSeconds upper limit of `_timeout`
 * @throws ServiceError 'invalid' naming a parameter that is malformed or unknown to one of the types
 */
export function readTypesSearch(
  query: URLSearchParams,
  { searched, isNamed }: { readonly searched: readonly string[]; readonly isNamed: boolean },
  scope: OpenScope,
  mostSeconds: number,
): ReadTypesSearch {
  if ((query.get('_page') ?? '') !== '')
    throw invalid('_page', 'counts pages of one type: follow the links of a search over types');
  if (explainOptionsOf(query) !== undefined)
    throw invalid('_explain', 'explains a search of one type only: send it for each type');
  const common = commonParameters(query, searched, isNamed, scope);
  const parsed = searched.map((type) => ({ type, ...parseSearch(common, { type, ...scope }) }));
  const isOldestFirst = isOldestFirstOf(query);
  const types: ParsedSearch['used'] = query.has('_type') ? [['_type', searched.join(',')]] : [];
  return {
    ...answerShapeOf(query, [...types, ...(parsed[0]?.used ?? [])], [], mostSeconds),
    searches: parsed.map(({ type, clauses }) => ({ type, clauses })),
    isOldestFirst,
    includes: includesOfAll(query, searched, scope),
  };
}

/** The query without `_type` and, in a lenient search, without parameters that would narrow only some of the types. */
function commonParameters(
  query: URLSearchParams,
  searched: readonly string[],
  isNamed: boolean,
  scope: OpenScope,
): URLSearchParams {
  const common = new URLSearchParams();
  for (const [name, value] of query) {
    if (name === '_type' || value === '') continue;
    if (isNamed || isOfAllTypes(name)) common.append(name, value);
    else if (!scope.isLenient)
      throw invalid(name, 'is no parameter of all types: name the types, as in _type=Patient,Observation');
  }
  if (!scope.isLenient) return common;
  const known = (name: string, { used }: ParsedSearch): boolean => used.some(([code]) => code === name);
  const parsed = searched.map((type) => parseSearch(common, { type, ...scope }));
  for (const name of [...common.keys()])
    if (!isResultParameter(name) && !parsed.every((one) => known(name, one))) common.delete(name);
  return common;
}

/**
 * Whether a parameter exists for all types. `_filter` begins with `_` too, but the words in it are parameters of one
 * type.
 */
const isOfAllTypes = (name: string): boolean => name.startsWith('_') && name !== '_filter';

/** Reads `_sort`. Only one order has an index for every type: the time of the last update. */
function isOldestFirstOf(query: URLSearchParams): boolean {
  const sort = query.get('_sort') ?? '';
  if (sort === '' || sort === '-_lastUpdated') return false;
  if (sort === '_lastUpdated') return true;
  throw new ServiceError('search-value-invalid', '"_sort" of a search over types is -_lastUpdated or _lastUpdated.');
}

/**
 * Reads the includes for all types. `Type:parameter` means the same for each type; `*` means the references of each
 * type.
 */
function includesOfAll(query: URLSearchParams, searched: readonly string[], scope: OpenScope): readonly Include[] {
  const isWild = query.getAll('_include').some((value) => value.split(',').includes('*'));
  const read = searched.slice(0, isWild ? undefined : 1).flatMap((type) => includesOf(query, { type, ...scope }));
  const keyOf = ({ isReverse, isIterated, parameterIds, types, named }: Include): string =>
    JSON.stringify([isReverse, isIterated, parameterIds, types, named.map(({ by }) => by)]);
  return [...new Map(read.map((include) => [keyOf(include), include])).values()];
}
