import fc from 'fast-check';

const key = fc.constantFrom('a', 'b', 'c', 'a/b', '~', '');
const digits = fc.constantFrom('0', '-0', '1', '1.0', '1.10', '12345678901234567890.10', '1e2', '-2.50E-3');

/** JSON texts with few distinct keys, so that members often coincide, and with numbers that a double would change. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(digits, fc.constantFrom('true', 'null', '"x"', '"é\\n"', '{}', '[]')),
    fc.array(tie('value'), { maxLength: 4 }).map((elements) => `[${elements.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(key, tie('value')), { selector: ([name]) => name, maxLength: 4 })
      .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  ),
})).value;
