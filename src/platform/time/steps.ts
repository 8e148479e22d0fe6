/** A long computation; at each `yield` it can be paused (slices.ts does). It should yield every millisecond or so. */
export type Steps<T> = Generator<void, T, void>;

/**
 * The rest of work that began at once; undefined when it is done. A generator for each small value would double its
 * cost.
 */
export type Rest = Steps<void> | undefined;

/** Runs all steps in one turn: for what is known to be short. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Does `next` when the rest is done. */
export function then(rest: Rest, next: () => void): Rest {
  if (rest !== undefined) return chained(rest, next);
  next();
  return undefined;
}

function* chained(rest: Steps<void>, next: () => void): Steps<void> {
  yield* rest;
  next();
}
