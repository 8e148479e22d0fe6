import { UcumLhcUtils } from '@lhncbc/ucum-lhc';

export const UCUM = 'http://unitsofmeasure.org';

/** The conversion of a number from one unit to another: `value * factor + offset`. */
export interface Conversion {
  readonly factor: number;
  readonly offset: number;
}

const conversions = new Map<string, Conversion | undefined>();
const MOST_CONVERSIONS = 10_000;

/**
 * Returns the conversion between two UCUM codes (https://ucum.org/ucum). It is linear, like the conversions of all
 * units except a few logarithmic ones.
 * @returns undefined if one of the texts is no UCUM code, or if the units measure different quantities
 */
export function conversionOf(from: string, to: string): Conversion | undefined {
  if (from === to) return { factor: 1, offset: 0 };
  const key = `${from} ${to}`;
  if (conversions.has(key)) return conversions.get(key);
  const found = linearConversion(from, to);
  if (conversions.size < MOST_CONVERSIONS) conversions.set(key, found);
  return found;
}

/** Maximum length of a code. Real units have a few letters, and parsing a longer text would only cost time. */
const LONGEST_CODE = 100;

/** Whether a text is a unit by the grammar and tables of UCUM (case-sensitive). */
export const isUcumCode = (code: string): boolean =>
  code.length <= LONGEST_CODE && UcumLhcUtils.getInstance().validateUnitString(code).status === 'valid';

function linearConversion(from: string, to: string): Conversion | undefined {
  const [zero, one, two] = [0, 1, 2].map((value) => convert(from, value, to));
  if (zero === undefined || one === undefined || two === undefined) return undefined;
  const factor = one - zero;
  const isLinear = Math.abs(two - zero - 2 * factor) <= Math.abs(factor) * 1e-9;
  return isLinear && factor > 0 ? { factor, offset: zero } : undefined;
}

function convert(from: string, value: number, to: string): number | undefined {
  const { status, toVal } = UcumLhcUtils.getInstance().convertUnitTo(from, value, to);
  return status === 'succeeded' && typeof toVal === 'number' ? toVal : undefined;
}
