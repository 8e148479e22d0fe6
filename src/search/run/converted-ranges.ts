import { type Conversion } from '../../platform/ucum/ucum';
import { type NumberRange } from '../query/search-query';

/** Relative error of a conversion between units. */
const TOLERANCE = 1e-12;

/**
 * Converts the ranges of one searched number to another unit: one range, or the two of `ne`, which are the complement
 * of those of `eq`. So a stored number is found either by `eq` or by `ne`.
 */
export function convertedRanges(ranges: readonly NumberRange[], conversion: Conversion): readonly NumberRange[] {
  const [first, second] = ranges;
  if (first === undefined || second === undefined) return ranges.map((range) => converted(range, conversion));
  const between = converted(
    { low: first.high, high: second.low, isLowOpen: !first.isHighOpen, isHighOpen: !second.isLowOpen },
    conversion,
  );
  return [
    { ...first, high: between.low, isHighOpen: !between.isLowOpen },
    { ...second, low: between.high, isLowOpen: !between.isHighOpen },
  ];
}

/**
 * Moves each bound by the error of the conversion, so that a number equal to the bound stays inside or outside: 72.45
 * kg are 72450.00000000001 g by arithmetic, and a stored 72450 g is at least as much.
 */
function converted({ low, high, isLowOpen, isHighOpen }: NumberRange, conversion: Conversion): NumberRange {
  const bounds = {
    low: moved(low, isLowOpen ? 1 : -1, conversion),
    high: moved(high, isHighOpen ? -1 : 1, conversion),
    isLowOpen,
    isHighOpen,
  };
  if (!Number.isFinite(low) || !Number.isFinite(high)) return bounds;
  // The bounds of a number with many digits are closer than the error. Include the number.
  const middle = low + (high - low) / 2;
  const [below, above] = [moved(middle, -1, conversion), moved(middle, 1, conversion)];
  return above < bounds.high ? bounds : { ...bounds, low: Math.min(bounds.low, below), high: above, isHighOpen: false };
}

function moved(value: number, direction: 1 | -1, { factor, offset }: Conversion): number {
  if (!Number.isFinite(value)) return value;
  const product = value * factor;
  return product + offset + direction * TOLERANCE * (Math.abs(product) + Math.abs(offset));
}
