import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { READ } from './bench-data';
import { type LoadClient } from './load-client';

/**
 * Reads per second. A read is sent at this pace even if the previous one was not answered: waiting would hide the
 * latency.
 */
const READS_PER_SECOND = 100;

/**
 * Runs `work` with a high priority. Real readers are other machines, so their latencies must not include waiting for a
 * CPU. A process started meanwhile would inherit the priority.
 */
export async function withPriority<T>(work: () => Promise<T>): Promise<T> {
  setOwnPriority(constants.priority.PRIORITY_HIGH);
  try {
    return await work();
  } finally {
    setOwnPriority(constants.priority.PRIORITY_NORMAL);
  }
}

function setOwnPriority(priority: number): void {
  try {
    setPriority(priority);
  } catch {
    // Only root may raise the priority; otherwise the server's threads delay the readers, more so on a busy machine.
  }
}

/** Sends reads until `end`, at an even pace. Returns each latency in milliseconds, Infinity for a failed read. */
export async function readUntil(reader: LoadClient, end: Promise<unknown>): Promise<readonly number[]> {
  const waiting: Promise<number>[] = [];
  const over = new AbortController();
  const whenOver = end.finally(() => {
    over.abort();
  });
  const startedAt = performance.now();
  while (!over.signal.aborted) {
    const dueAt = startedAt + (waiting.length * 1_000) / READS_PER_SECOND;
    await delay(Math.max(0, dueAt - performance.now()));
    waiting.push(
      reader
        .send(READ.requestOf(waiting.length))
        .then(({ status }) => (status === READ.expectedStatus ? performance.now() - dueAt : Number.POSITIVE_INFINITY)),
    );
  }
  await whenOver;
  return Promise.all(waiting);
}
