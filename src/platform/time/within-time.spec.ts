import { describe, expect, it } from '@jest/globals';
import { withinTime } from './within-time';

describe(withinTime, () => {
  it('returns the result', () => {
    expect(withinTime(1000, () => [1])).toEqual([1]);
  });

  it('stops a regular expression that would run forever', () => {
    expect(withinTime(50, () => /^(a+)+$/.test(`${'a'.repeat(60)}!`))).toBeUndefined();
  });

  it('rethrows an error', () => {
    const fault = new Error('own');
    expect(() =>
      withinTime(1000, (): number => {
        throw fault;
      }),
    ).toThrow(fault);
  });
});
