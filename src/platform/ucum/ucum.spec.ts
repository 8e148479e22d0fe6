import { describe, expect, it } from '@jest/globals';
import { conversionOf } from './ucum';

describe(conversionOf.name, () => {
  it.each([
    ['kg', 'g', 1000],
    ['[IU]', '[iU]', 1],
    ['u[IU]/mL', 'm[IU]/L', 1],
    ['u[IU]/mL', 'u[iU]/mL', 1],
    ['k[iU]/L', '[IU]/mL', 1],
    ['[IU]/kg', '[IU]/g', 1e-3],
    ["k[arb'U]", "[arb'U]", 1000],
    ['[IU]{total}/L', 'm[IU]/L', 1000],
    ['[diop]', '/m', 1],
    ['[diop]', 'm-1', 1],
    ['/m', '[diop]', 1],
  ])('converts %s to %s', (from, to, factor) => {
    const conversion = conversionOf(from, to);
    expect(conversion?.factor).toBeCloseTo(factor, 12);
    expect(conversion?.offset).toBe(0);
  });

  it.each([
    ['[IU]', "[arb'U]"],
    ['[IU]', '1'],
    ['1', '[IU]'],
    ['[IU]', 'cd'],
    ['cd', '[IU]'],
    ['[IU].cd', '[IU]2'],
    ['[IU]/L', '[IU]/h'],
    ['[IU]/L', 'g/L'],
    ["[IU]/[arb'U]", "[arb'U]/[IU]"],
    ['{[IU]}', '[IU]'],
    ['[diop]', 'm'],
    ['[iu]', '[IU]'],
    ['kg', 'm'],
  ])('does not convert %s to %s', (from, to) => {
    expect(conversionOf(from, to)).toBeUndefined();
  });
});
