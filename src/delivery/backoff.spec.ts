import { describe, expect, it } from '@jest/globals';
import { backoffMilliseconds } from './backoff';

describe(backoffMilliseconds.name, () => {
  it('doubles the longest pause from half a second to a minute', () => {
    const longest = [0, 1, 2, 3, 4, 5, 6, 7, 8, 2000].map((failStreak) => backoffMilliseconds(failStreak, 0, 1));
    expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('returns any share of the longest pause', () => {
    expect([0, 0.25, 0.5].map((random) => backoffMilliseconds(1, 0, random))).toEqual([0, 250, 500]);
  });

  it('waits at least as long as the receiver requests', () => {
    expect(backoffMilliseconds(0, 120, 1)).toBe(120_000);
  });

  it('waits no longer than 15 minutes, whatever the receiver requests', () => {
    expect(backoffMilliseconds(0, 86_400, 1)).toBe(900_000);
  });

  it('keeps the longer pause when the receiver requests a shorter one', () => {
    expect(backoffMilliseconds(7, 1, 0.5)).toBe(30_000);
  });
});
