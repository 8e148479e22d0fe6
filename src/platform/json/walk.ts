/**
 * A walk through a tree yields values, `undefined` where it can pause, and walks through a part, which come before its
 * next value.
 */
export type Walk<T extends object | string> = Generator<T | Walk<T> | undefined, void, void>;

/** Runs nested walks without nesting generators, which would pass each value through all of them. */
export function* flattened<T extends object | string>(root: Walk<T>): Generator<T | undefined, void, void> {
  const open = [root];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const { done, value } = last.next();
    if (done === true) open.pop();
    else if (isWalk(value)) open.push(value);
    else yield value;
  }
}

function isWalk<T extends object | string>(value: T | Walk<T> | undefined): value is Walk<T> {
  return typeof value === 'object' && Symbol.iterator in value;
}
