import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { invalid } from './values';
import { type Branch } from '../../fhirpath/fhirpath';

/** Texts in JSON path language are JSON strings. */
export const pathText = (text: string): string => JSON.stringify(text);

/**
 * The ways to the values of a parameter in the JSON path language of PostgreSQL.
 * @throws ServiceError 'invalid' for the few parameters whose expressions it cannot say
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

/** Only plain ASCII has one spelling in a body, whatever escapes a client used. */
export const hintOf = (text: string): { readonly hint?: string } =>
  /^[ !#-[\]-~]{2,}$/.test(text) ? { hint: text } : {};
