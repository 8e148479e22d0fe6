import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { invalid } from './values';
import { type Branch } from '../../fhirpath/fhirpath';

/** Strings in the JSON path language are JSON strings. */
export const pathText = (text: string): string => JSON.stringify(text);

/**
 * Paths to the values of a parameter, in PostgreSQL's JSON path language.
 * @throws ServiceError 'invalid' for the few parameters whose expressions have no such path
 */
export function valuePathsOf({ branches }: SearchParameter, name: string): readonly ValuePath[] {
  return branches.map((branch) => {
    const steps = branch.steps.filter(({ resolvesTo }) => resolvesTo === undefined).map(({ jsonPath }) => jsonPath);
    if (steps.includes(undefined)) throw invalid(name, 'cannot be used with this parameter');
    return { path: `$${steps.join('')}`, type: branch.type };
  });
}

export interface ValuePath extends Pick<Branch, 'type'> {
  readonly path: string;
}

/** Hints are plain ASCII only: it has one spelling in a body, regardless of the client's escapes. */
export const hintOf = (text: string): { readonly hint?: string } =>
  /^[ !#-[\]-~]{2,}$/.test(text) ? { hint: text } : {};
