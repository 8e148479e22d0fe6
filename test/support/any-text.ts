import fc from 'fast-check';

const SURROGATES = 0x800;

/**
 * Any character but a lone surrogate, like those of `fc.string({ unit: 'binary' })`. For its characters, fast-check
 * prepares a map of all of Unicode in each spec file, which takes a second of CPU.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - SURROGATES })
  .map((point) => String.fromCodePoint(point < 0xd800 ? point : point + SURROGATES));

export const anyText = (): fc.Arbitrary<string> => fc.string({ unit: anyCharacter });
