/** A long computation that can pause at each `yield` (slices.ts pauses it). It should yield about every millisecond. */
export type Steps<T> = Generator<void, T, void>;

/**
 * The rest of work that has already begun; undefined if it is done. A generator for each small value would double its
 * cost.
 */
export type Rest = Steps<void> | undefined;

/** Runs all steps in one turn, for short computations. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs `next` after the rest. */
export function then(rest: Rest, next: () => void): Rest {
  if (rest !== undefined) return chained(rest, next);
  next();
  return undefined;
}

function* chained(rest: Steps<void>, next: () => void): Steps<void> {
  yield* rest;
  next();
}
