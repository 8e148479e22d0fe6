/**
 * A long computation that can pause at each `yield`. slices.ts decides when it pauses. It should yield about once per
 * millisecond.
 */
export type Steps<T> = Generator<void, T, void>;

/** Runs all steps without a pause, for short computations. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
