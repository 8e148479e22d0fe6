import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';

/**
 * Loaded into a server by `turns-bench.ts` (NODE_OPTIONS). From one SIGUSR2 to the next it measures the CPU time of the
 * main thread in each turn of the event loop, then writes the longest one to `TURNS_FILE`. Time that the thread waits
 * for a processor does not count, so the figures hold on a busy machine. The loop does not wait for events meanwhile.
 */
const { TURNS_FILE } = process.env;

let measuring: { longest: number; last: number; readonly file: number } | undefined;

if (TURNS_FILE !== undefined) {
  process.on('SIGUSR2', () => {
    if (measuring === undefined) begin();
    else end(TURNS_FILE);
  });
}

function begin(): void {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  measuring = { longest: 0, last: millisecondsIn(file), file };
  turn();
}

function end(path: string): void {
  if (measuring === undefined) return;
  writeFileSync(path, String(measuring.longest));
  closeSync(measuring.file);
  measuring = undefined;
}

function turn(): void {
  if (measuring === undefined) return;
  const now = millisecondsIn(measuring.file);
  measuring.longest = Math.max(measuring.longest, now - measuring.last);
  measuring.last = now;
  setImmediate(turn);
}

/** The CPU time of the thread since it began. */
function millisecondsIn(file: number): number {
  const text = Buffer.alloc(32);
  readSync(file, text, 0, text.length, 0);
  return Number(text.toString('latin1').split(' ')[0]) / 1_000_000;
}
