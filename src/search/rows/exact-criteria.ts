import { type ParsedSearch } from '../parse/parse-search';
import { nestedIn } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';
import { invalid } from '../parse/values';

/** Modifiers that ask for a value as it is. A type, as in `subject:Patient`, is one too. */
const EXACT_MODIFIERS = new Set(['exact', 'not', 'missing', 'identifier', 'of-type']);

/** Texts, and searches within searches: what they find is a matter of spelling, or of another resource's content. */
const INEXACT_CODES = new Set(['_text', '_content', '_filter', '_query', '_contained', '_containedType', '_ilike']);

/**
 * Refuses parameters that find by similarity: rights must not depend on spelling.
 * @throws ServiceError 'invalid' naming the parameter
 */
export function assertExactNames(query: URLSearchParams): void {
  for (const name of query.keys()) {
    const { code, modifier } = lastLinkOf(name);
    if (INEXACT_CODES.has(code)) throw invalid(name, 'finds by similarity, so that rights cannot depend on it');
    if (modifier !== undefined && !EXACT_MODIFIERS.has(modifier) && !/^[A-Z][A-Za-z]*$/.test(modifier))
      throw invalid(name, 'has a modifier that finds by similarity, so that rights cannot depend on it');
  }
}

/** @throws ServiceError 'invalid' naming a parameter that compares beginnings of texts */
export function assertExactClauses({ clauses, used }: ParsedSearch): void {
  const at = clauses.findIndex(isByBeginning);
  if (at < 0) return;
  const [name = ''] = used[at] ?? [];
  throw invalid(name, 'compares beginnings of texts; add :exact, since rights cannot depend on similarity');
}

function isByBeginning(clause: SearchClause): boolean {
  if (clause.kind === 'string') return true;
  // `:exact` looks by the beginning, and then at the stored text.
  if (clause.kind === 'all' && clause.clauses.some(({ kind }) => kind === 'body')) return false;
  return nestedIn(clause).some(isByBeginning);
}

/** `subject:Patient.name:exact` and `_has:Group:member:name:exact` end in `name:exact`. */
function lastLinkOf(name: string): { readonly code: string; readonly modifier: string | undefined } {
  const [, inner] = /^_has:[^:]*:[^:]*:(.*)$/s.exec(name) ?? /^[^.]*\.(.*)$/s.exec(name) ?? [];
  if (inner !== undefined) return lastLinkOf(inner);
  const [code = '', modifier] = name.split(/:(.*)/s);
  return { code, modifier };
}
