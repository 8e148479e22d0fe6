const FIRST_MILLISECONDS = 500;
const LONGEST_MILLISECONDS = 60_000;
const LONGEST_RETRY_AFTER_MILLISECONDS = 15 * 60_000;

/**
 * The pause after a failed attempt: 0.5 s, doubling up to 60 s, with full jitter, so that many destinations on one host
 * do not retry at the same moment. A `Retry-After` of the receiver can extend it, up to 15 minutes.
 * @param failStreak failed attempts in a row before this one
 * @param random from 0 to 1
 */
export function backoffMilliseconds(failStreak: number, retryAfterSeconds: number, random: number): number {
  const ceiling = Math.min(LONGEST_MILLISECONDS, FIRST_MILLISECONDS * 2 ** failStreak);
  const asked = Math.min(LONGEST_RETRY_AFTER_MILLISECONDS, retryAfterSeconds * 1000);
  return Math.max(asked, Math.round(random * ceiling));
}
