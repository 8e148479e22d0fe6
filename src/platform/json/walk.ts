/**
 * A walk through a tree. It yields values, `undefined` at points where it can pause, and further walks, which run
 * before its next value.
 */
export type Walk<T extends object | string> = Generator<T | Walk<T> | undefined, void, void>;

/**
 * Runs a walk with its nested walks. The open walks are kept in a list. If generators were nested instead, each value
 * would pass through all of them.
 */
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
