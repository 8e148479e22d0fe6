/** The error of a step whose response breaks a promise of the service. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

/** @throws BrokenPromise with `promise`, the sentence that should be true. */
export function expectThat(isKept: boolean, promise: string): void {
  if (!isKept) throw new BrokenPromise(promise);
}
