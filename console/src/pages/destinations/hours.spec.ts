import { describe, expect, it } from '@jest/globals';
import { barsOf, hoursOf } from './hours';

describe(hoursOf.name, () => {
  it('returns 24 hours, the current hour last, with zeros for missing hours', () => {
    const now = Date.parse('2026-01-31T10:30:00Z');
    const hours = hoursOf(
      [
        { start: '2026-01-30T10:00:00Z', delivered: 7, failed: 7 },
        { start: '2026-01-30T11:00:00Z', delivered: 1, failed: 0 },
        { start: '2026-01-31T10:00:00Z', delivered: 5, failed: 2 },
      ],
      now,
    );
    expect(hours).toHaveLength(24);
    expect([hours[0], hours[1], hours[23]]).toEqual([
      { delivered: 1, failed: 0 },
      { delivered: 0, failed: 0 },
      { delivered: 5, failed: 2 },
    ]);
  });
});

describe(barsOf.name, () => {
  it('draws a bar for each value above 0, and nothing for zeros only', () => {
    expect(barsOf([0, 10, 1], 100, 20)).toBe('M1.15 20v-2.00h.7v2.00zM2.15 20v-1.50h.7v1.50z');
    expect(barsOf([0, 0], 0, 20)).toBe('');
  });
});
