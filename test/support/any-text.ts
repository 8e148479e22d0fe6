import fc from 'fast-check';

const SURROGATES = 0x800;

/**
 * Any string without lone surrogates, like those of `fc.string({ unit: 'binary' })`. For its strings, fast-check
 * prepares a map of all of Unicode in each spec file, which takes half a second.
 */
export const anyText = (): fc.Arbitrary<string> =>
  fc
    .array(fc.nat({ max: 0x10ffff - SURROGATES }))
    .map((points) => String.fromCodePoint(...points.map((point) => (point < 0xd800 ? point : point + SURROGATES))));
