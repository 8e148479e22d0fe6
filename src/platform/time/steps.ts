/**
 * A long computation that can pause at each `yield`. slices.ts decides when it pauses. It should yield about once per
 * millisecond.
 */
export type Steps<T> = Generator<void, T, void>;

/**
 * The remaining steps of work that has already begun; undefined if the work is done. Small work is done at once and
 * needs no generator, which would double its cost.
 */
export type Rest = Steps<void> | undefined;

/** Runs all steps without a pause, for short computations. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs `next` after the remaining steps of `rest`. Returns the steps that still remain. */
export function then(rest: Rest, next: () => void): Rest {
  if (rest !== undefined) return chained(rest, next);
  next();
  return undefined;
}

function* chained(rest: Steps<void>, next: () => void): Steps<void> {
  yield* rest;
  next();
}
