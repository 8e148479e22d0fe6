import { type ParsedSearch } from '../parse/parse-search';
import { nestedIn } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';
import { invalid } from '../parse/values';

/** Modifiers that compare exactly. A type, as in `subject:Patient`, is also allowed. */
const EXACT_MODIFIERS = new Set(['exact', 'not', 'missing', 'identifier', 'of-type']);

/**
 * Parameters that are refused: free text, and searches within searches. Their results depend on spelling, or on the
 * content of other resources.
 */
const INEXACT_CODES = new Set(['_text', '_content', '_filter', '_query', '_contained', '_containedType', '_ilike']);

/**
 * Refuses parameters that match by similarity, since rights must not depend on spelling.
 * @throws ServiceError 'invalid' naming the parameter
 */
export function assertExactNames(query: URLSearchParams): void {
  for (const name of query.keys()) {
    const { code, modifier } = lastLinkOf(name);
    if (INEXACT_CODES.has(code)) throw invalid(name, 'matches by similarity, so it cannot define access rights');
    if (modifier !== undefined && !EXACT_MODIFIERS.has(modifier) && !/^[A-Z][A-Za-z]*$/.test(modifier))
      throw invalid(name, 'has a modifier that matches by similarity, so it cannot define access rights');
  }
}

/**
 * Refuses dot expressions that compare parts of texts.
 * @throws ServiceError 'invalid' naming the parameter
 */
export function assertExactDots(name: string): void {
  if (/\$(contains|starts|ends)$/.test(name))
    throw invalid(name, 'compares parts of texts, so it cannot define access rights');
}

/**
 * Refuses clauses that compare only the beginning of texts.
 * @throws ServiceError 'invalid' naming the parameter
 */
export function assertExactClauses({ clauses, used }: ParsedSearch): void {
  const at = clauses.findIndex(isByBeginning);
  if (at < 0) return;
  const [name = ''] = used[at] ?? [];
  throw invalid(name, 'matches prefixes of texts; add :exact, since access rights need exact values');
}

function isByBeginning(clause: SearchClause): boolean {
  if (clause.kind === 'string') return true;
  // `:exact` finds candidates by their beginning, but then compares the whole stored text, so it is exact.
  if (clause.kind === 'all' && clause.clauses.some(({ kind }) => kind === 'body')) return false;
  return nestedIn(clause).some(isByBeginning);
}

/** The last link of a name: `name:exact` of `_has:Group:member:name:exact`. */
function lastLinkOf(name: string): { readonly code: string; readonly modifier: string | undefined } {
  const [, inner] = /^_has:[^:]*:[^:]*:(.*)$/s.exec(name) ?? /^[^.]*\.(.*)$/s.exec(name) ?? [];
  if (inner !== undefined) return lastLinkOf(inner);
  const [code = '', modifier] = name.split(/:(.*)/s);
  return { code, modifier };
}
