/** A step whose answer is not what the service promises. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

/** @throws BrokenPromise with `promise`, the sentence that should have been true. */
export function expectThat(isKept: boolean, promise: string): void {
  if (!isKept) throw new BrokenPromise(promise);
}
