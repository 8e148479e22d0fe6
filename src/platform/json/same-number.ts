const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Whether two JSON numbers have the same value, such as `37.20`, `37.2` and `372e-1`. The result is exact for any
 * number of digits.
 */
export const isSameNumber = (a: string, b: string): boolean => {
  const [one, other] = [canonical(a), canonical(b)];
  return one !== undefined && one === other;
};

/** The same text for all spellings of a value: sign, digits without zeros at both ends, power of ten. */
function canonical(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === '') return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/(?<!0)0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
