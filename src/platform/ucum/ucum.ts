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
  const found = conversionWithStandIns(from, to);
  if (conversions.size < MOST_CONVERSIONS) conversions.set(key, found);
  return found;
}

/** Maximum length of a code. Real units have a few letters, and parsing a longer text would only cost time. */
const LONGEST_CODE = 100;

/** Whether a text is a unit by the grammar and tables of UCUM (case-sensitive). */
export const isUcumCode = (code: string): boolean =>
  code.length <= LONGEST_CODE && UcumLhcUtils.getInstance().validateUnitString(code).status === 'valid';

/** The base unit that stands in for an arbitrary unit: it takes prefixes, and no unit with an arbitrary one has it. */
const STAND_IN = 'cd';
/** Units of light, which are made of {@link STAND_IN}. */
const OF_LIGHT = /cd|lm|lx|ph|sb|Lmb/;

/**
 * Converts codes that the library converts wrongly or not at all.
 *
 * An arbitrary unit such as `[IU]` measures nothing else, but its prefixes are powers of ten as for other units, so
 * 5 u[IU]/mL are 5 m[IU]/L (https://ucum.org/ucum#section-Arbitrary-Units). The library refuses all arbitrary units. So
 * a base unit stands in for it in both codes, if both have the same one.
 */
function conversionWithStandIns(from: string, to: string): Conversion | undefined {
  const [arbitrary, other] = [arbitraryUnitsIn(from), arbitraryUnitsIn(to)];
  if (arbitrary.size === 0 && other.size === 0) return linearConversion(convertible(from), convertible(to));
  const [unit] = arbitrary;
  if (!isUcumCode(from) || !isUcumCode(to)) return undefined;
  if (unit === undefined || arbitrary.size > 1 || other.size > 1 || !other.has(unit)) return undefined;
  if (OF_LIGHT.test(withoutBrackets(from)) || OF_LIGHT.test(withoutBrackets(to))) return undefined;
  return linearConversion(convertible(from, unit), convertible(to, unit));
}

/** An annotation, or a unit in brackets; all arbitrary units have brackets. */
const ANNOTATION_OR_UNIT = /\{[^{}]*\}|\[[^[\]]*\]/g;

const withoutBrackets = (code: string): string => code.replace(ANNOTATION_OR_UNIT, '');

const arbitraryUnitsIn = (code: string): ReadonlySet<string> =>
  new Set((code.match(ANNOTATION_OR_UNIT) ?? []).map(mainSpelling).filter(isArbitrary));

/** UCUM has the international unit twice. */
const mainSpelling = (unit: string): string => (unit === '[iU]' ? '[IU]' : unit);

const isArbitrary = (unit: string): boolean =>
  unit.startsWith('[') && UcumLhcUtils.getInstance().getSpecifiedUnit(unit, 'validate').unit?.isArbitrary_ === true;

/** The code with {@link STAND_IN} for `arbitrary`, and with 1/m for `[diop]`, which the library takes for meters. */
const convertible = (code: string, arbitrary?: string): string =>
  code.replace(ANNOTATION_OR_UNIT, (unit) =>
    mainSpelling(unit) === arbitrary ? STAND_IN : unit === '[diop]' ? 'cKy' : unit,
  );

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
