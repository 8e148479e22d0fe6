import { isSame, type JsonNumber, type JsonValue } from '../../platform/json/lossless';

/** Equality of RFC 6902, section 4.6: members in any order, numbers by their value (`1.10` is `1.1` is `11e-1`). */
export const isSameValue = (a: JsonValue, b: JsonValue): boolean =>
  isSame(a, b, (one, other) => decimalOf(one) === decimalOf(other));

/** One text for each value: sign, digits without zeros at the ends, power of ten. Exact, whatever the size. */
function decimalOf({ text }: JsonNumber): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
