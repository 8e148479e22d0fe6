/** The smallest value that `share` (0 to 1) of all values do not exceed; NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** The middle value; for an even count the lower of the two. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);
