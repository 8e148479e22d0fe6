import { elementsOf, invariantDefinitions, lineageOf } from '../../definitions';
import { compileFhirPath } from '../fhirpath/compile-fhirpath';
import { type Truth } from '../fhirpath/compiled';
import { evaluateByLibrary } from '../fhirpath/evaluate-by-library';
import { type Invariant } from './stored-profile';

/** Longer ones are not evaluated: nobody writes them by hand, and each is parsed. */
const MAX_EXPRESSION_LENGTH = 4000;

let coreKeys: ReadonlySet<string> | undefined;

/** Snapshots repeat what R4 says itself, which is checked already; dom-6 is advice that R4 gives to every resource. */
export function isOfR4({ key }: Invariant): boolean {
  coreKeys ??= new Set(['dom-6', ...invariantDefinitions().map((stated) => stated.key)]);
  return coreKeys.has(key);
}

/**
 * Compiles an invariant of a profile.
 * @param path of the element in its type, such as `Patient.contact`
 * @returns undefined when the expression cannot be evaluated at all
 */
export function profileInvariant({ expression }: Invariant, path: string): Truth | undefined {
  if (expression.length > MAX_EXPRESSION_LENGTH) return undefined;
  try {
    const type = typeAt(path);
    if (type !== undefined) return compileFhirPath(expression, type, path.split('.')[0]);
  } catch {
    // Outside of the compiled subset, or no FHIRPath: the library decides which.
  }
  try {
    return evaluateByLibrary(expression, path.replaceAll('[x]', ''));
  } catch {
    return undefined;
  }
}

/** The one type of an element; undefined for choices and for paths that R4 does not know. */
function typeAt(path: string): string | undefined {
  const [root = '', ...steps] = path.split('.');
  let type: string | undefined = lineageOf(root).length === 0 ? undefined : root;
  for (const step of steps) {
    const element = type === undefined ? undefined : elementsOf(type)?.get(step);
    type = element?.types.length === 1 ? element.types[0] : undefined;
  }
  return type;
}
