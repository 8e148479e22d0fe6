import { type Crash } from './fault-log';
import { type Arrival } from './faulty-receiver';

/** A batch that was answered with a 2xx and arrived again. */
export interface Repeat {
  readonly before: Arrival;
  readonly again: Arrival;
}

/** An attempt that the sender ended at its timeout. */
export interface TimeOut {
  readonly destination: string;
  readonly firstNumber: number;
  /** Milliseconds of a monotonic clock. */
  readonly endedAt: number;
}

/** The time after a fault in which it still affects attempts: their settling was under way, or failed. */
const FELT_MILLISECONDS = 3000;

/** Repeats at one destination, except those that a crash explains: a crash may lose the result of an attempt. */
export function repeatsWithoutCrash(arrivals: readonly Arrival[], crashes: readonly Crash[]): Repeat[] {
  const answered = new Map<string, Arrival>();
  const found: Repeat[] = [];
  for (const arrival of arrivals) {
    const before = answered.get(arrival.batchId);
    const isExplained =
      before === undefined ||
      crashes.some(({ at, endedAt }) => endedAt > before.at - FELT_MILLISECONDS && at < arrival.at);
    if (!isExplained) found.push({ before, again: arrival });
    if (arrival.isAnswered) answered.set(arrival.batchId, arrival);
  }
  return found;
}

/** Whether the sender timed out between the two arrivals. A busy sender may read a timely response too late. */
export const isAnsweredLate = ({ before, again }: Repeat, timeOuts: readonly TimeOut[]): boolean =>
  timeOuts.some(
    ({ destination, firstNumber, endedAt }) =>
      destination === again.destination &&
      firstNumber === again.events[0]?.number &&
      endedAt > before.at &&
      endedAt < again.at,
  );
