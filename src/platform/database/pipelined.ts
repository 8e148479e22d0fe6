/**
 * Waits for pipelined statements of one transaction. The connection answers them in order. If a statement fails, the
 * later ones fail too, since the transaction is aborted. When all have ended, the first failure is thrown, because it
 * has the cause.
 */
export async function pipelined<const T extends readonly unknown[]>(
  sent: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const results = await Promise.allSettled(sent);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as {
    -readonly [K in keyof T]: Awaited<T[K]>;
  };
}
