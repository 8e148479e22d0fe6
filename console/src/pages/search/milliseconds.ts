/** Formats a time as `0.02 ms`, `3.4 ms`, `120 ms` or `1.4 s`. */
export function milliseconds(time: number): string {
  if (time >= 1000) return `${(time / 1000).toFixed(time < 10_000 ? 1 : 0)} s`;
  return `${time >= 100 ? Math.round(time) : time >= 1 ? time.toFixed(1) : time.toFixed(time >= 0.1 ? 2 : 3)} ms`;
}
