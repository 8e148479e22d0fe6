import { invariantDefinitions } from '../../definitions/definitions';
import { compileConstraint, ExpressionError, type Truth } from '../../../fhirpath/fhirpath';
import { type Invariant } from '../../../validator/profile/stored-profile';

let coreKeys: ReadonlySet<string> | undefined;

/** Snapshots repeat what R4 says itself, which is checked already; dom-6 is advice that R4 gives to every resource. */
export function isOfR4({ key }: Invariant): boolean {
  coreKeys ??= new Set(['dom-6', ...invariantDefinitions().map((stated) => stated.key)]);
  return coreKeys.has(key);
}

/**
 * Compiles a constraint of a profile.
 * @param path of the element in its type, such as `Patient.contact`
 * @returns the reason when the expression cannot be evaluated at all
 */
export function profileInvariant({ expression }: Invariant, path: string): Truth | ExpressionError {
  try {
    return compileConstraint(expression, path);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}
