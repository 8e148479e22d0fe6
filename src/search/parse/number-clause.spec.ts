import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stepOf } from '../compile/filters';
import { numberRangesOf } from './number-clause';

/** Whether a search finds a number that is stored as a double, as PostgreSQL compares it. */
const finds = (search: string, stored: string): boolean =>
  numberRangesOf('value', search)
    .map(stepOf)
    .some(([low, high]) => low <= Number(stored) && Number(stored) <= high);

const decimals = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.stringMatching(/^\d{1,20}$/, { size: 'max' }),
    fc.nat(20),
    fc.option(fc.integer({ min: -30, max: 30 }), { nil: undefined }),
  )
  .map(([sign, digits, point, exponent]) => {
    const whole = digits.slice(0, Math.max(1, digits.length - point));
    const fraction = digits.slice(whole.length);
    return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}${exponent === undefined ? '' : `e${exponent}`}`;
  });

describe(numberRangesOf.name, () => {
  it.each([
    '1234567.12345678',
    '3.141592653589793',
    '0.123456789012345',
    '1234567890123456',
    '9007199254740993',
    '-9007199254740993',
    '0.1234567890123456789012345',
    '1e-320',
  ])('finds %s by its own digits, with each prefix that includes it', (text) => {
    expect(['', 'eq', 'ne', 'ge', 'le', 'ap', 'gt', 'lt'].map((prefix) => finds(`${prefix}${text}`, text))).toEqual([
      ...[true, true, false, true, true, true],
      ...[false, false],
    ]);
  });

  it('finds any decimal by its own digits, and not with a prefix that excludes it', () => {
    fc.assert(
      fc.property(decimals, (text) => {
        expect(['eq', 'ge', 'le', 'ap'].filter((prefix) => !finds(`${prefix}${text}`, text))).toEqual([]);
        expect(['ne', 'gt', 'lt'].filter((prefix) => finds(`${prefix}${text}`, text))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it('finds each number either with eq or with ne', () => {
    const near = fc.tuple(decimals, fc.integer({ min: -3, max: 3 }), decimals);
    fc.assert(
      fc.property(near, ([text, steps, other]) => {
        const value = Number(text);
        for (const stored of [value * (1 + steps * Number.EPSILON), Number(other)].map(String))
          expect(finds(`eq${text}`, stored)).toBe(!finds(`ne${text}`, stored));
      }),
      { numRuns: 1000 },
    );
  });

  it('has no bound that only infinity reaches', () => {
    expect(numberRangesOf('value', 'ne1e308')).toHaveLength(2);
    expect(numberRangesOf('value', 'ne17976931e301')).toHaveLength(1);
  });

  it.each([
    ['5.4', 5.35, 5.45],
    ['-5.4', -5.45, -5.35],
    ['100', 99.5, 100.5],
    ['0.10', 0.095, 0.105],
    ['1.0e2', 95, 105],
  ])('searches for %s as the numbers from %d to below %d', (text, low, high) => {
    expect(numberRangesOf('value', text)).toEqual([{ low, high, isLowOpen: false, isHighOpen: true }]);
  });
});
