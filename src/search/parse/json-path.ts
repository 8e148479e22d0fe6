import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type BodyClause } from '../query/search-query';
import { invalid } from './values';
import { type Branch } from '../../fhirpath/fhirpath';

/** A string of the JSON path language. The language writes strings as JSON does. */
export const pathText = (text: string): string => JSON.stringify(text);

export const literalRegex = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Tests of the member `system` of an item: none for any system. An empty system means that the item has none. */
export function systemTests(system: string | undefined): readonly string[] {
  if (system === undefined) return [];
  return [system === '' ? '!(exists(@.system))' : `@.system == ${pathText(system)}`];
}

/**
 * Paths to the values of a parameter, in PostgreSQL's JSON path language.
 * @throws ServiceError 'invalid' for a parameter whose expression has no such path; there are few
 */
export function valuePathsOf({ branches }: SearchParameter, name: string): readonly ValuePath[] {
  return branches.map((branch) => {
    const steps = branch.steps.filter(({ resolvesTo }) => resolvesTo === undefined).map(({ jsonPath }) => jsonPath);
    if (steps.includes(undefined)) throw invalid(name, 'cannot be used with this parameter');
    return { path: `$${steps.join('')}`, type: branch.type };
  });
}

/**
 * A test of the stored text: one of the paths that `pathsOf` makes for a value must find something.
 * @param text a text that each matching body contains, in any case
 */
export const bodyClauseOf = (
  parameter: SearchParameter,
  name: string,
  pathsOf: (value: ValuePath) => readonly string[],
  text = '',
): BodyClause => ({ kind: 'body', paths: valuePathsOf(parameter, name).flatMap(pathsOf), ...hintOf(text) });

export interface ValuePath extends Pick<Branch, 'type'> {
  readonly path: string;
}

/**
 * A hint for a test of the stored text: a text that each matching body contains. Only plain ASCII can be a hint,
 * because it is spelled the same in each body.
 */
export const hintOf = (text: string): { readonly hint?: string } =>
  /^[ !#-[\]-~]{2,}$/.test(text) ? { hint: text } : {};
