import { boundValueSets, elementsOfType, once } from '../../fhir/definitions/definitions';
import { type SearchParameter } from '../../search-index/extract/search-parameter';

/** The codes of R4's required bindings by system, by element: `Patient.contact.gender`, `Address.use`. */
const boundCodes = once(
  () =>
    new Map(
      boundValueSets().flatMap(({ elements, codes }) => {
        const bySystem = new Map(Object.entries(codes));
        return elements.map((element) => [element, bySystem] as const);
      }),
    ),
);

/**
 * The codes of a system that a parameter can find, if it finds elements of type `code`. Such an element has no member
 * for its system: the value set to which R4 binds the element implies it (http://hl7.org/fhir/R4/search.html#token).
 * @returns undefined if the parameter finds other types, or if the value set has no code of the system
 */
export function impliedCodesOf({ type, branches }: SearchParameter, system: string): readonly string[] | undefined {
  const [branch, ...others] = branches;
  if (branch?.type !== 'code' || others.length > 0) return undefined;
  let [element, owner]: [string, string | undefined] = ['', type];
  for (const { member } of branch.steps) {
    if (owner === undefined || member === undefined) return undefined;
    element = `${owner}.${member}`;
    owner = elementsOfType(owner)?.get(member)?.types[0];
  }
  return boundCodes().get(element)?.get(system);
}

/** A token as sent: `code`, `system|code`, `|code` or `system|`. */
export interface ParsedToken {
  readonly code: string;
  /** System of the code. Undefined means any system; empty means that the code has no system. */
  readonly system?: string;
}

/** Removes a system that the elements of the parameter imply: rows of such elements hold no system. */
export function withoutImplied(parameter: SearchParameter, token: ParsedToken): ParsedToken {
  const { system = '', code } = token;
  // Case is ignored here, for searches with `:i`. This is harmless without `:i`: a code in another case matches no row.
  const sought = code.toLowerCase();
  const isImplied = code !== '' && impliedCodesOf(parameter, system)?.some((one) => one.toLowerCase() === sought);
  return isImplied === true ? { code } : token;
}
