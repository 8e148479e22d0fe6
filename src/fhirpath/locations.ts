import { memoized } from '../platform/memoized';
import { assertAllowed, assertLength } from './allowed';
import { type LocationStep, locationsByLibrary } from './library';
import { parseExpression } from './syntax/parse-expression';

/**
 * Compiles a path of a FHIRPath patch, always by the library: it knows where the elements that it finds stand.
 * @returns a function that finds elements in a resource, each by the way to it; undefined for a value that is no element
 * @throws NotAllowed for a function or variable that paths may not use, ExpressionError for what is no FHIRPath
 */
export const compileLocations = memoized((text): Locate => {
  assertLength(text, 'patch');
  const expression = parseExpression(text);
  assertAllowed(expression, 'patch');
  return locationsByLibrary(text);
  // Applications send the same paths again, and the library takes about a millisecond to compile one.
}, 500);

type Locate = (resource: unknown) => readonly (readonly LocationStep[] | undefined)[];
