import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until `condition` returns a value other than undefined or false. After `timeoutMilliseconds` it fails, and the
 * message says `what` was expected.
 * @example
 * await eventually('the webhook arrives', () => receiver.requests.length > 0);
 */
export async function eventually<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMilliseconds = 15_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMilliseconds;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    if (performance.now() > deadline) throw new Error(`Waited too long until ${what}`);
    await delay(20);
  }
}
