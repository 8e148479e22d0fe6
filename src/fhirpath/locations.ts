import { memoized } from '../platform/memoized';
import { assertAllowed, assertLength } from './allowed';
import { type LocationStep, locationsByLibrary } from './library';
import { parseExpression } from './syntax/parse-expression';

/**
 * Compiles a path of a FHIRPath patch, always by the library, since its nodes hold the locations of elements.
 * @returns a function that finds elements in a resource, as locations; undefined for a value that is no element
 * @throws NotAllowed for a function or variable that paths may not use, ExpressionError for invalid FHIRPath
 */
export const compileLocations = memoized((text): Locate => {
  assertLength(text, 'patch');
  const expression = parseExpression(text);
  assertAllowed(expression, 'patch');
  return locationsByLibrary(text);
  // Applications repeat the same paths, and the library takes about a millisecond to compile one.
}, 500);

type Locate = (resource: unknown) => readonly (readonly LocationStep[] | undefined)[];
