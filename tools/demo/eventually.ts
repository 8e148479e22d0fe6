import { setTimeout as pause } from 'node:timers/promises';
import { BrokenPromise } from './broken-promise';

const POLL_MS = 100;

/**
 * Polls until there is a value.
 * @throws BrokenPromise with `promise` when there is none after `deadlineSeconds`.
 */
export async function eventually<T>(
  promise: string,
  deadlineSeconds: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadlineMs = performance.now() + deadlineSeconds * 1000;
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (performance.now() > deadlineMs) throw new BrokenPromise(`${promise} within ${deadlineSeconds} s`);
    await pause(POLL_MS);
  }
}
