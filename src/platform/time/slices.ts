import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ServiceError } from '../errors/service-error';
import { type Steps } from './steps';

/** What requests wait at most behind one slice, garbage collection aside. */
const SLICE_MILLISECONDS = 8;

/** Each holds its input in memory, up to some 40 MB. */
const MAX_WAITING = 32;

/**
 * Runs long computations on this thread, in slices between which requests are answered. What fits into one slice is done at
 * once; longer ones run one after the other, so that no turn of the event loop has more than one slice.
 */
@Injectable()
export class Slices {
  private waiting = 0;
  private last: Promise<unknown> = Promise.resolve();

  /** @throws ServiceError 'busy' when too many wait, and what the computation throws. */
  async run<T>(steps: Steps<T>): Promise<T> {
    const first = slice(steps);
    if (first !== undefined) return first.value;
    if (this.waiting >= MAX_WAITING) {
      throw new ServiceError('busy', 'Too many large bodies at once. Try again in a few seconds.', {
        retryAfterSeconds: 5,
      });
    }
    this.waiting++;
    const turn = this.last.then(() => finish(steps));
    this.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.waiting--;
    }
  }
}

async function finish<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    await nextTurn();
    const done = slice(steps);
    if (done !== undefined) return done.value;
  }
}

/** Goes on until the time of a slice is over; the result, once there is one. */
function slice<T>(steps: Steps<T>): { readonly value: T } | undefined {
  const end = performance.now() + SLICE_MILLISECONDS;
  do {
    const { done, value } = steps.next();
    if (done === true) return { value };
  } while (performance.now() < end);
  return undefined;
}
