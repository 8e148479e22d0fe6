const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Formats a number as `12,345`. */
export const whole = (number: number): string => WHOLE.format(number);

/** Formats a number as `12.3K`, for large numbers in little space. */
export const short = (number: number): string => (number < 10_000 ? WHOLE.format(number) : SHORT.format(number));

/** Formats a rate per second or minute as `0.4`, `12` or `1.2K`. */
export const rate = (number: number): string =>
  number === 0 ? '0' : number < 0.1 ? '< 0.1' : number < 10 ? number.toFixed(1) : short(Math.round(number));

/** Formats seconds as `850 µs`, `12 ms` or `1.4 s`. */
export function duration(seconds: number): string {
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

const SIZES = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes as `1.3 GB`; each unit is 1,000 times the unit before. */
export function bytes(count: number): string {
  const power = count < 1000 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${SIZES[power] ?? ''}`;
}
