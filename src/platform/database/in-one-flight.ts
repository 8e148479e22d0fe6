/**
 * Waits for statements of one transaction that were sent together: the connection answers them in their order. When one
 * fails the rest fail too, as the transaction is over; the first failure, which says why, is thrown when all have
 * ended.
 */
export async function inOneFlight<const T extends readonly unknown[]>(
  sent: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const results = await Promise.allSettled(sent);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as {
    -readonly [K in keyof T]: Awaited<T[K]>;
  };
}
