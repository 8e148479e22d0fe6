import { ServiceError } from '../../platform/errors/service-error';
import { filterClauseOf } from './filter';
import { pairedClauseOf } from './paired-clause';
import { isUndefinedHere } from './undefined-parameter';
import { clauseOf } from './parameter-clause';
import { type SearchScope } from './search-scope';
import { invalid } from './values';
import { isResultParameter } from '../query/result-parameters';
import { type SearchClause } from '../query/search-query';

/**
 * Maximum number of clauses of a search. People write fewer by hand, and each clause costs a lookup per candidate row.
 */
const MAX_CLAUSES = 32;

/** Maximum number of parameters of a search, with those that shape the answer. Most searches have a dozen. */
const MAX_PARAMETERS = 500;

/** Maximum effort of all chains: it allows 500 paths from type to type. Real searches have a few. */
const MAX_EFFORT = 10_000;

export interface ParsedSearch {
  readonly clauses: readonly SearchClause[];
  /** The parameters that were applied, as sent, for the `self` link. */
  readonly used: readonly (readonly [name: string, value: string])[];
}

/**
 * Reads the parameters of a search (http://hl7.org/fhir/R4/search.html).
 * @throws ServiceError 'invalid' naming an unknown or malformed parameter
 */
export function parseSearch(query: URLSearchParams, scope: SearchScope): ParsedSearch {
  if (query.size > MAX_PARAMETERS)
    throw new ServiceError('search-too-large', `A search takes at most ${MAX_PARAMETERS} parameters.`);
  const clauses: SearchClause[] = [];
  const bounded = { ...scope, effort: { left: MAX_EFFORT } };
  const used: [string, string][] = [];
  for (const [name, value] of query) {
    if (value === '') continue; // an empty value is ignored
    if (isResultParameter(name)) {
      assertNoModifier(name);
      continue;
    }
    if (isUndefinedHere(name, value)) {
      used.push([name, value]);
      continue;
    }
    if (value.includes('\0')) throw invalid(name, 'has a NUL character in its value');
    const clause =
      name === '_filter'
        ? filterClauseOf(value, bounded)
        : (pairedClauseOf(name, value, query, bounded) ?? clauseOf(name, value, bounded));
    if (clause === undefined) continue;
    if (clauses.push(clause) > MAX_CLAUSES)
      throw new ServiceError('search-too-large', `A search takes at most ${MAX_CLAUSES} parameters.`);
    used.push([name, value]);
  }
  return { clauses, used };
}

/**
 * Refuses a modifier of a parameter that shapes the answer. The readers of these parameters look for the bare name, so
 * `_sort:desc=family` of DSTU1 would be ignored without a word. `_include` and `_revinclude` read their own modifiers.
 * @throws ServiceError 'invalid' naming the parameter
 */
function assertNoModifier(name: string): void {
  const [code = '', modifier] = name.split(':', 2);
  if (modifier === undefined || code === '_include' || code === '_revinclude') return;
  const hint = code === '_sort' ? ' A "-" before a key reverses its order, as in _sort=-_lastUpdated.' : '';
  throw invalid(name, 'takes no modifier', hint);
}
