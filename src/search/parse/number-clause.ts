import { joined } from '../query/nested-clauses';
import { type NumberRange, type SearchClause, type UnitKey } from '../query/search-query';
import { isUcumCode, UCUM } from '../../platform/ucum/ucum';
import { type SentParameter } from './search-scope';
import { assertNoModifier, invalid, type Prefix, prefixOf, splitOutsideEscapes, unescaped } from './values';

interface ParsedQuantity {
  readonly ranges: readonly NumberRange[];
  /** The unit that numbers must have; absent if any unit matches. */
  readonly unit?: UnitKey;
}

export function numberClauseOf({ parameter, modifier, name, values }: SentParameter): SearchClause {
  assertNoModifier(name, modifier, ['missing']);
  const ranges = values.flatMap((text) => numberRangesOf(name, text));
  return { kind: 'number', parameterIds: parameter.storedAs, codeHash: 0, ranges };
}

export function quantityClauseOf({ parameter, modifier, name, values }: SentParameter): SearchClause {
  assertNoModifier(name, modifier, ['missing']);
  return quantitiesOf(parameter.storedAs, 0, name, values);
}

/** Reads a number with its prefix: `gt5.40`, `1e2`. http://hl7.org/fhir/R4/search.html#number */
export function numberRangesOf(name: string, text: string): readonly NumberRange[] {
  const { prefix, rest } = prefixOf(text);
  if (!/^[+-]?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/.test(rest)) {
    throw invalid(name, 'takes a number such as gt5.4, of up to 30 digits before and after the point');
  }
  if (!Number.isFinite(Number(rest))) {
    throw invalid(name, 'has a number that is out of range: the largest is about 1.8e308');
  }
  return rangesOf(prefix, decimalOf(rest));
}

/** Reads `[prefix]number`, `…||code` or `…|system|code`. http://hl7.org/fhir/R4/search.html#quantity */
function quantityOf(name: string, text: string): ParsedQuantity {
  const [number = '', system = '', code = '', ...rest] = splitOutsideEscapes(text, '|').map(unescaped);
  if (rest.length > 0) throw invalid(name, 'takes number|system|code, such as gt5.4|http://unitsofmeasure.org|mg');
  const ranges = numberRangesOf(name, number);
  if (code === '' && system !== '') throw invalid(name, 'names a system of units, but no unit');
  if (code === '') return { ranges };
  if (system === UCUM && !isUcumCode(code)) {
    throw invalid(
      name,
      `names "${code.slice(0, 64)}", which is no unit of UCUM; they are case-sensitive, such as mg or mm[Hg]`,
    );
  }
  return { ranges, unit: { ...(system === '' ? {} : { system }), code } };
}

/**
 * The clause of a quantity search. Values without a unit match numbers of any unit. Values with a unit must be resolved
 * against the stored units before the search runs.
 */
export function quantitiesOf(
  parameterIds: readonly number[],
  codeHash: number,
  name: string,
  values: readonly string[],
): SearchClause {
  const parsed = values.map((text) => quantityOf(name, text));
  const ranges = parsed.flatMap((one) => (one.unit === undefined ? one.ranges : []));
  const quantities = parsed.flatMap(({ ranges: own, unit }) => (unit === undefined ? [] : [{ ranges: own, unit }]));
  return joined('any', [
    ...(ranges.length === 0 ? [] : [{ kind: 'number', parameterIds, codeHash, ranges } as const]),
    ...(quantities.length === 0 ? [] : [{ kind: 'quantity', parameterIds, codeHash, quantities } as const]),
  ]);
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Reads `digits` × 10^`exponent`. The last place is kept: `100` has three digits, `1e2` has one. */
function decimalOf(text: string): Decimal {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** The nearest double of tenths of a decimal's last place, as index rows hold it. */
const doubleOf = (tenths: bigint, exponent: number): number => Number(`${tenths}e${exponent - 1}`);

/**
 * The ranges of one searched number. `eq` matches numbers that differ by less than half of the last digit's unit: `5.4`
 * means [5.35, 5.45), `100` means [99.5, 100.5) (http://hl7.org/fhir/R4/search.html#number).
 *
 * The bounds are computed in decimal, since 5.4 - 0.05 is 5.3500000000000005 in binary. If the sent digits are finer
 * than a double, the upper bound has the same double as the number, and includes it: a number is always found by its
 * own digits.
 */
function rangesOf(prefix: Prefix, { digits, exponent }: Decimal): readonly NumberRange[] {
  const value = doubleOf(digits * 10n, exponent);
  const low = doubleOf(digits * 10n - 5n, exponent);
  const high = doubleOf(digits * 10n + 5n, exponent);
  const isValueHigh = high === value;
  switch (prefix) {
    case 'eq':
      return [range(low, high, false, !isValueHigh)];
    case 'ne':
      return [
        ...(low === -Infinity ? [] : [range(-Infinity, low, true, true)]),
        ...(high === Infinity ? [] : [range(high, Infinity, isValueHigh, true)]),
      ];
    case 'gt':
    case 'sa':
      return [range(value, Infinity, true, true)];
    case 'lt':
    case 'eb':
      return [range(-Infinity, value, true, true)];
    case 'ge':
      return [range(value, Infinity, false, true)];
    case 'le':
      return [range(-Infinity, value, true, false)];
    case 'ap': {
      // A match of `ap` may differ by a tenth of the number (http://hl7.org/fhir/R4/search.html#prefix).
      const slack = digits < 0n ? -digits : digits;
      return [range(doubleOf(digits * 10n - slack, exponent), doubleOf(digits * 10n + slack, exponent), false, false)];
    }
  }
}

const range = (low: number, high: number, isLowOpen: boolean, isHighOpen: boolean): NumberRange => ({
  low,
  high,
  isLowOpen,
  isHighOpen,
});
