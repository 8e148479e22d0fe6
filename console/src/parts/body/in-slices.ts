import { type Steps } from '../../../../src/platform/time/steps';

/** Milliseconds of work between two pauses: a frame of 60 Hz keeps time for painting. */
const SLICE_MS = 8;

/**
 * Runs steps in slices, so that typing and scrolling stay fluid while a body of megabytes is read.
 * @throws the reason of the signal once it is aborted
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

/**
 * Lets the browser handle input and paint. A message is not delayed as timers are, which wait 4 ms when they are
 * nested.
 */
export const pause = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (): void => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
