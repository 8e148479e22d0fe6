const FIRST_MILLISECONDS = 500;
const LONGEST_MILLISECONDS = 60_000;
const LONGEST_RETRY_AFTER_MILLISECONDS = 15 * 60_000;

/**
 * Returns the pause after a failed attempt. Its upper bound is 0.5 s at first and doubles with each failure, up to 60
 * s. The pause is random below that bound (full jitter), so that many destinations on one host do not retry at the same
 * moment. A `Retry-After` of the receiver can extend the pause, up to 15 minutes.
 * @param failStreak how many attempts in a row had failed before this one
 * @param random a random number from 0 to 1
 */
export function backoffMilliseconds(failStreak: number, retryAfterSeconds: number, random: number): number {
  const ceiling = Math.min(LONGEST_MILLISECONDS, FIRST_MILLISECONDS * 2 ** failStreak);
  const asked = Math.min(LONGEST_RETRY_AFTER_MILLISECONDS, retryAfterSeconds * 1000);
  return Math.max(asked, Math.round(random * ceiling));
}
