import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text';
import { halfSipHash53 } from './half-siphash';

/**
 * Test vectors of the reference implementation (vectors_hsip64), by length: hashes of the bytes 0, 1, 2 … under the key
 * 0 … 7.
 */
const VECTORS: readonly [length: number, hash: string][] = [
  [4, 'd5e78a175be52ea1'],
  [6, 'ce3e91358aa2bc25'],
  [8, 'edfee820bce4858c'],
  [10, '95b0469f06a6f2ee'],
  [12, '7bc71f9faef5c799'],
  [14, '3bb1a870eae8e658'],
  [16, '7336aad25f7bf3b5'],
  [18, 'c9b2db2b9a3e42f9'],
  [20, '1bf52b0a6feea7db'],
  [34, '8324e4d7528f9830'],
];

describe(halfSipHash53.name, () => {
  it.each(VECTORS)('equals 53 bits of the reference hash of %i bytes', (length, vector) => {
    const bytes = Buffer.from(Array.from({ length }, (_value, index) => index));
    const key = { low: 0x03020100, high: 0x07060504 };
    const expected = Buffer.from(vector, 'hex').readBigUInt64LE() & 0x1f_ffff_ffff_ffffn;
    expect(halfSipHash53(bytes.toString('utf16le', 4), bytes.readInt32LE(), key)).toBe(Number(expected));
  });

  it('is an integer from 1 to 2^53 - 1, and differs under another key', () => {
    fc.assert(
      fc.property(anyText(), fc.integer(), fc.integer(), (text, seed, low) => {
        const hash = halfSipHash53(text, seed, { low, high: 7 });
        expect(Number.isSafeInteger(hash) && hash > 0).toBe(true);
        expect(halfSipHash53(text, seed, { low, high: 8 })).not.toBe(hash);
      }),
    );
  });

  it('has no collision among 100,000 short codes with neighboring seeds', () => {
    const hashes = new Set<number>();
    for (let seed = 0; seed < 100; seed++)
      for (let code = 0; code < 1000; code++) hashes.add(halfSipHash53(String(code), seed, { low: 1, high: 2 }));
    expect(hashes.size).toBe(100_000);
  });
});
