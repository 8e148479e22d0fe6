import { describe, expect, it } from '@jest/globals';
import { curveOf } from './curve';

describe(curveOf.name, () => {
  it('puts the largest value at the top, and 0 at the bottom', () => {
    expect(curveOf([0, 2, 1], 30)).toEqual({
      line: 'M0 30.00L1 0.00L2 15.00',
      area: 'M0 30L0 30.00L1 0.00L2 15.00L2 30z',
    });
  });

  it('has a gap where a value is unknown', () => {
    expect(curveOf([null, 4, null, 4, 4], 30)).toEqual({
      line: 'M1 0.00M3 0.00L4 0.00',
      area: 'M1 30L1 0.00L1 30zM3 30L3 0.00L4 0.00L4 30z',
    });
  });

  it('is a line at the bottom if all values are 0, and nothing without values', () => {
    expect(curveOf([0, 0], 30).line).toBe('M0 30.00L1 30.00');
    expect(curveOf([], 30)).toEqual({ line: '', area: '' });
  });
});
