import { constants } from 'node:os';

/** At Ctrl-C and SIGTERM, calls `end`, and then ends the process with the usual exit code of the signal. */
export function endAtSignal(end: () => Promise<unknown>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void end().finally(() => process.exit(128 + constants.signals[signal])));
  }
}
