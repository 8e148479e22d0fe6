import { type Compiled, question, type Truth } from './compiled';

/** Operators with three truth values; undefined is the empty collection (http://hl7.org/fhirpath/N1/#boolean-logic). */
export const LOGIC = {
  and: (left: Truth, right: Truth): Compiled => decided(false, left, right),
  or: (left: Truth, right: Truth): Compiled => decided(true, left, right),
  xor: (left: Truth, right: Truth): Compiled =>
    question((focus, variables) => {
      const [a, b] = [left(focus, variables), right(focus, variables)];
      return a === undefined || b === undefined ? undefined : a !== b;
    }),
  implies: (left: Truth, right: Truth): Compiled =>
    question((focus, variables) => {
      const a = left(focus, variables);
      if (a === false) return true;
      const b = right(focus, variables);
      return a === true ? b : b === true ? true : undefined;
    }),
};

/**
 * Compiles an operator whose result is decided as soon as one side has the value `decisive`: false for `and`, true for
 * `or`. If the left side has this value, the right side is not evaluated, so it cannot fail.
 */
function decided(decisive: boolean, left: Truth, right: Truth): Compiled {
  return question((focus, variables) => {
    const a = left(focus, variables);
    if (a === decisive) return decisive;
    const b = right(focus, variables);
    return b === decisive ? decisive : a === undefined || b === undefined ? undefined : !decisive;
  });
}
