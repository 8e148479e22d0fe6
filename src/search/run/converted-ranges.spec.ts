import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { conversionOf } from '../../platform/ucum/ucum';
import { stepOf } from '../compile/filters';
import { numberRangesOf } from '../parse/number-clause';
import { convertedRanges } from './converted-ranges';

function finds(search: string, from: string, stored: number, to: string): boolean {
  const conversion = conversionOf(from, to);
  if (conversion === undefined) throw new Error(`${from} is not converted to ${to}`);
  return convertedRanges(numberRangesOf('value', search), conversion)
    .map(stepOf)
    .some(([low, high]) => low <= stored && stored <= high);
}

describe(convertedRanges.name, () => {
  it.each([
    ['72.5', true],
    ['ne72.5', false],
    ['ge72.45', true],
    ['gt72.45', false],
    ['le72.45', true],
    ['lt72.45', false],
    ['72.4', false],
    ['ne72.4', true],
  ])('converts bounds exactly: %s kg finds 72450 g: %s', (search, expected) => {
    expect(finds(search, 'kg', 72450, 'g')).toBe(expected);
  });

  it.each(['1234567.12345678', '70.1234567890123', '9007199254740993', '0.1', '-3.3333'])(
    'finds %s kg as the same mass in grams and pounds',
    (text) => {
      for (const [to, stored] of [
        ['g', Number(`${text}e3`)],
        ['[lb_av]', Number(text) / 0.45359237],
      ] as const)
        expect(['', 'ne', 'ge', 'le', 'gt', 'lt'].map((prefix) => finds(`${prefix}${text}`, 'kg', stored, to))).toEqual(
          [...[true, false, true, true], ...[false, false]],
        );
    },
  );

  it('finds each number either with eq or with ne, and a temperature by its own digits', () => {
    const digits = fc.stringMatching(/^-?\d{1,3}\.\d{1,16}$/, { size: 'max' });
    fc.assert(
      fc.property(digits, fc.integer({ min: -9, max: 9 }), (text, step) => {
        const kelvin = (Number(text) + 273.15) * (1 + step * 2e-13);
        expect(finds(text, 'Cel', kelvin, 'K')).toBe(!finds(`ne${text}`, 'Cel', kelvin, 'K'));
        expect(finds(text, 'Cel', Number(text) + 273.15, 'K')).toBe(true);
      }),
    );
  });
});
