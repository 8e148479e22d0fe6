import { joined } from '../query/nested-clauses';
import { type NumberRange, type SearchClause, type UnitKey } from '../query/search-query';
import { isUcumCode, UCUM } from '../../platform/ucum/ucum';
import { invalid, type Prefix, prefixOf, splitOutsideEscapes, unescaped } from './values';

/** The share of the searched number by which a match of `ap` may differ (http://hl7.org/fhir/R4/search.html#prefix). */
const APPROXIMATION = 0.1;

export interface ParsedQuantity {
  readonly ranges: readonly NumberRange[];
  /** The unit that numbers must have; absent if any unit matches. */
  readonly unit?: UnitKey;
}

/** Reads a number with its prefix: `gt5.40`, `1e2`. http://hl7.org/fhir/R4/search.html#number */
export function numberRangesOf(name: string, text: string): readonly NumberRange[] {
  const { prefix, rest } = prefixOf(text);
  if (!/^[+-]?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/.test(rest) || !Number.isFinite(Number(rest))) {
    throw invalid(name, 'takes a number such as gt5.4');
  }
  return rangesOf(prefix, Number(rest), halfStepOf(rest));
}

/** Reads `[prefix]number`, `…||code` or `…|system|code`. http://hl7.org/fhir/R4/search.html#quantity */
export function quantityOf(name: string, text: string): ParsedQuantity {
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
export function quantityClauseOf(
  parameterIds: readonly number[],
  codeHash: number,
  parsed: readonly ParsedQuantity[],
): SearchClause {
  const ranges = parsed.flatMap((one) => (one.unit === undefined ? one.ranges : []));
  const quantities = parsed.flatMap(({ ranges: own, unit }) => (unit === undefined ? [] : [{ ranges: own, unit }]));
  return joined('any', [
    ...(ranges.length === 0 ? [] : [{ kind: 'number', parameterIds, codeHash, ranges } as const]),
    ...(quantities.length === 0 ? [] : [{ kind: 'quantity', parameterIds, codeHash, quantities } as const]),
  ]);
}

/**
 * Half of the unit of the last digit, by which a match may differ: `5.4` means [5.35, 5.45), `100` means [99.5, 100.5),
 * `1e2` means [95, 105), since it has one significant digit (http://hl7.org/fhir/R4/search.html#number).
 */
function halfStepOf(text: string): number {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const hasExponent = text.length > mantissa.length;
  const place = hasExponent && fraction === '' && whole.length > 0 ? 0 : -fraction.length;
  return 0.5 * 10 ** (place + Number(exponent));
}

function rangesOf(prefix: Prefix, value: number, half: number): readonly NumberRange[] {
  const low = rounded(value - half);
  const high = rounded(value + half);
  switch (prefix) {
    case 'eq':
      return [range(low, high, false, true)];
    case 'ne':
      return [range(-Infinity, low, true, true), range(high, Infinity, false, true)];
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
      const slack = Math.abs(value) * APPROXIMATION;
      return [range(rounded(value - slack), rounded(value + slack), false, false)];
    }
  }
}

/** Rounds away errors of binary arithmetic: 5.4 - 0.05 is 5.3500000000000005. */
const rounded = (value: number): number => Number(value.toPrecision(15));

const range = (low: number, high: number, isLowOpen: boolean, isHighOpen: boolean): NumberRange => ({
  low,
  high,
  isLowOpen,
  isHighOpen,
});
