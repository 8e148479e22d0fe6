import { type Steps } from '../../../../src/platform/time/steps';

/** Milliseconds of work between two pauses, so that painting at 60 Hz has time. */
const SLICE_MS = 8;

/**
 * Runs steps in slices, so that typing and scrolling stay smooth while a body of megabytes is read.
 * @throws the reason of the signal after an abort
 */
export async function inSlices<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const end = performance.now() + SLICE_MS;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (performance.now() < end);
    await pause();
    signal?.throwIfAborted();
  }
}

/** Lets the browser process input and paint. Messages are not delayed, unlike nested timers, which wait 4 ms. */
export const pause = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (): void => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
