import { ServiceError } from '../../platform/errors/service-error';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';

/** Maximum number of alternatives of one parameter. */
export const MAX_ALTERNATIVES = 1000;

/**
 * Maximum number of alternatives of a search that no index covers, since each candidate is compared with all of them.
 */
const MAX_COMPARED = 32;

/**
 * Checks the number of alternatives of a search that no index covers.
 * @throws ServiceError 'invalid' for too many
 */
export function assertFew(name: string, alternatives: readonly unknown[]): void {
  if (alternatives.length > MAX_COMPARED)
    throw invalid(name, `takes at most ${MAX_COMPARED} values, since each resource is compared with all of them`);
}

/**
 * Splits a value at commas into alternatives; `\,` is a literal comma (http://hl7.org/fhir/R4/search.html#escaping).
 */
export function alternativesOf(name: string, value: string): readonly string[] {
  const alternatives = splitOutsideEscapes(value, ',').filter((text) => text !== '');
  if (alternatives.length > MAX_ALTERNATIVES) {
    throw invalid(name, `takes at most ${MAX_ALTERNATIVES} values separated by commas`);
  }
  if (alternatives.length === 0) throw invalid(name, 'has no value');
  return alternatives;
}

export function splitOutsideEscapes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '\\') i++;
    if (character !== separator) continue;
    parts.push(text.slice(start, i));
    start = i + 1;
  }
  return [...parts, text.slice(start)];
}

export const unescaped = (text: string): string => text.replace(/\\([\\,|$])/g, '$1');

export const invalid = (name: string, what: string, hint = ''): ServiceError =>
  new ServiceError('search-value-invalid', `"${name.slice(0, 80)}" ${what}.${hint}`);

/** @throws ServiceError 'invalid' for a text that is no resource type */
export function assertType(name: string, type: string, parameters: Pick<SearchParameterSet, 'has'>): void {
  if (!parameters.has(type)) throw invalid(name, `names "${type.slice(0, 64)}", which is no resource type`);
}

export const unsupportedModifier = (name: string, known: readonly string[]): ServiceError =>
  invalid(
    name,
    known.length === 0
      ? 'takes no modifier'
      : `has a modifier that its kind of parameter does not take; known: ${known.map((modifier) => `:${modifier}`).join(', ')}`,
  );

/**
 * Checks that a parameter has no modifier, for kinds that take none or only some that are read before.
 * @throws ServiceError 'invalid' naming the known ones
 */
export function assertNoModifier(name: string, modifier: string | undefined, known: readonly string[]): void {
  if (modifier !== undefined) throw unsupportedModifier(name, known);
}

/** Comparison prefixes of dates, numbers and quantities (http://hl7.org/fhir/R4/search.html#prefix). */
export type Prefix = 'eq' | 'ne' | 'gt' | 'lt' | 'ge' | 'le' | 'sa' | 'eb' | 'ap';

export function prefixOf(text: string): { readonly prefix: Prefix; readonly rest: string } {
  const [, prefix = 'eq', rest = ''] = /^(eq|ne|gt|lt|ge|le|sa|eb|ap)?(.*)$/s.exec(text) ?? [];
  return { prefix: prefix as Prefix, rest };
}
