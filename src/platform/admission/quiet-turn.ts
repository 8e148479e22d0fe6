import { subscribe } from 'node:diagnostics_channel';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum wait, since connections may arrive continuously. */
const LONGEST_WAIT_MILLISECONDS = 20;

let arrived = 0;
let isArriving = false;
subscribe('net.server.socket', () => {
  arrived++;
  if (isArriving) return;
  isArriving = true;
  void quietTurn().then(() => {
    isArriving = false;
  });
});

/** Whether {@link quietTurn} would now wait for more than a turn of the event loop. */
export const connectionsArrive = (): boolean => isArriving;

/**
 * Waits for a turn of the event loop in which no connection arrives. libuv accepts only one connection per turn. If
 * each turn also ran a time slice of 8 ms, the last of 200 simultaneous connections would wait for 200 time slices.
 */
export async function quietTurn(): Promise<void> {
  const end = performance.now() + LONGEST_WAIT_MILLISECONDS;
  let before: number;
  do {
    before = arrived;
    await nextTurn();
  } while (arrived !== before && performance.now() < end);
}
