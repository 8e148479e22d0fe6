import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { READ } from './bench-data';
import { type LoadClient } from './load-client';

/** Reads go out at this pace, whether the last one was answered or not: who waits would hide how long others wait. */
const READS_PER_SECOND = 100;

/**
 * Runs `work` with a high priority: readers are other machines, too, and their figures must not include how long they wait
 * for a processor. A process that is started meanwhile would inherit it.
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
    // Only root may raise it; without it the server's threads delay the readers, more so beside much other work.
  }
}

/** Reads that were sent until `end`, at an even pace: the latency of each in milliseconds, Infinity of one that failed. */
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
