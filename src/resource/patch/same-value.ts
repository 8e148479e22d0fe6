import { JsonNumber, type JsonValue } from '../../platform/json/lossless';

/** Equality of RFC 6902, section 4.6: members in any order, numbers by their value (`1.10` is `1.1` is `11e-1`). */
export function isSameValue(a: JsonValue, b: JsonValue): boolean {
  if (a instanceof JsonNumber) return b instanceof JsonNumber && decimalOf(a) === decimalOf(b);
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((element, index) => isSameValue(element, b[index] ?? null))
    );
  }
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return false;
    for (const [key, member] of a) {
      const other = b.get(key);
      if (other === undefined || !isSameValue(member, other)) return false;
    }
    return true;
  }
  return a === b;
}

/** One text for each value: sign, digits without zeros at the ends, power of ten. Exact, whatever the size. */
function decimalOf({ text }: JsonNumber): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
