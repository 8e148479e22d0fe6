import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text';
import { halfSipHash53 } from './half-siphash';
import { hash53, parameterIdOf } from './hash';
import { RowHashes } from './row-hashes';

const KEY = { low: 1, high: 2 };

describe(hash53.name, () => {
  // Rows of running databases hold these hashes. If the function changes, no search finds these rows any more.
  it.each([
    ['', 0, 3338908027751811],
    ['a', 0, 7929297801672961],
    ['a', 1, 3867567542367655],
    ['Patient/p7', 0, 3531684141215375],
    ['http://loinc.org', 0, 4895071543849565],
    ['8480-6', 1234567, 8705737971683382],
    ['é😀', -1, 2866522853354499],
  ])('returns for %j with seed %i always %i', (text, seed, hash) => {
    expect(hash53(text, seed)).toBe(hash);
  });

  it('is an integer from 1 to 2^53 - 1', () => {
    fc.assert(
      fc.property(anyText(), fc.integer(), (text, seed) => {
        const hash = hash53(text, seed);
        expect(Number.isSafeInteger(hash) && hash > 0).toBe(true);
      }),
    );
  });

  it('has no collision among 100,000 short codes with neighboring seeds', () => {
    const hashes = new Set<number>();
    for (let seed = 0; seed < 100; seed++)
      for (let code = 0; code < 1000; code++) hashes.add(hash53(String(code), seed));
    expect(hashes.size).toBe(100_000);
  });
});

describe(parameterIdOf.name, () => {
  it('returns the same number in every database', () => {
    expect([parameterIdOf('Observation', 'code'), parameterIdOf('Patient', '_tag')]).toEqual([2071753756, 1315480886]);
  });
});

describe(RowHashes.name, () => {
  const hashes = new RowHashes(KEY);

  it('depend on the key of the database', () => {
    expect([hashes.ofToken(3, 'a'), hashes.ofTarget('Patient/p7')]).toEqual([
      halfSipHash53('a', 3, KEY),
      halfSipHash53('Patient/p7', 0, KEY),
    ]);
    expect(new RowHashes({ low: 1, high: 3 }).ofToken(3, 'a')).not.toBe(hashes.ofToken(3, 'a'));
  });

  it('are 0 only for "no system"', () => {
    expect([undefined, '', 'http://loinc.org'].map((system) => hashes.ofSystem(system) === 0)).toEqual([
      true,
      true,
      false,
    ]);
  });
});
