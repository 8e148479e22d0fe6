import { describe, expect, it } from '@jest/globals';
import { decimal, Random } from './random';

describe(Random, () => {
  it('draws the numbers of mulberry32, on every machine', () => {
    const random = new Random(1);
    expect([random.fraction(), random.fraction(), random.fraction()]).toEqual([
      0.6270739405881613, 0.002735721180215478, 0.5274470399599522,
    ]);
  });

  it('draws whole numbers of a range, both ends included', () => {
    const random = new Random(1);
    const drawn = new Set(Array.from({ length: 200 }, () => random.integer(3, 6)));
    expect([...drawn].sort()).toEqual([3, 4, 5, 6]);
  });
});

describe(decimal, () => {
  it('keeps trailing zeros', () => {
    expect(decimal(5.4, 2).toString()).toBe('5.40');
  });
});
