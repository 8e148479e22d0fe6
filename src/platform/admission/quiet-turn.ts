import { subscribe } from 'node:diagnostics_channel';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Connections may arrive without end, so work waits no longer for them. */
const LONGEST_WAIT_MILLISECONDS = 20;

let arrived = 0;
subscribe('net.server.socket', () => {
  arrived++;
});

/**
 * Waits for a turn of the event loop in which no connection arrives. libuv accepts one connection in a turn: if each
 * turn also had a time slice of 8 ms, the last of 200 connections that arrive at once would wait for 200 slices.
 */
export async function quietTurn(): Promise<void> {
  const end = performance.now() + LONGEST_WAIT_MILLISECONDS;
  let before: number;
  do {
    before = arrived;
    await nextTurn();
  } while (arrived !== before && performance.now() < end);
}
