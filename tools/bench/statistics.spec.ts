import { describe, expect, it } from '@jest/globals';
import { median, quantile } from './statistics';

describe(quantile, () => {
  it('is a measured value, whatever the order', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([0, 0.5, 0.99, 1].map((share) => quantile(values, share))).toEqual([1, 50, 99, 100]);
  });

  it('leaves the values in their order', () => {
    const values = [3, 1, 2];
    quantile(values, 0.5);
    expect(values).toEqual([3, 1, 2]);
  });

  it('is NaN without values', () => {
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe(median, () => {
  it('is not changed by one outlier', () => {
    expect(median([10, 11, 5000])).toBe(11);
  });
});
