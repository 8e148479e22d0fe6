import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hash53, parameterIdOf, systemHashOf, targetHashOf, tokenHashOf } from './hash';

describe(hash53.name, () => {
  // Rows in running databases hold these numbers: a change here orphans them all.
  it.each([
    ['', 0, 3338908027751811],
    ['a', 0, 7929297801672961],
    ['a', 1, 3867567542367655],
    ['Patient/p7', 0, 3531684141215375],
    ['http://loinc.org', 0, 4895071543849565],
    ['8480-6', 1234567, 8705737971683382],
    ['é😀', -1, 2866522853354499],
  ])('of %j with seed %i is %i for ever', (text, seed, hash) => {
    expect(hash53(text, seed)).toBe(hash);
  });

  it('is a whole number from 1 to 2^53 - 1', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer(), (text, seed) => {
        const hash = hash53(text, seed);
        expect(Number.isSafeInteger(hash) && hash > 0).toBe(true);
      }),
    );
  });

  it('keeps 100,000 short codes of neighbouring seeds apart', () => {
    const hashes = new Set<number>();
    for (let seed = 0; seed < 100; seed++)
      for (let code = 0; code < 1000; code++) hashes.add(hash53(String(code), seed));
    expect(hashes.size).toBe(100_000);
  });
});

describe('the hashes of rows', () => {
  it('are pinned', () => {
    expect([parameterIdOf('Observation', 'code'), parameterIdOf('Patient', '_tag')]).toEqual([2071753756, 1315480886]);
    expect([systemHashOf('http://loinc.org'), systemHashOf('http://snomed.info/sct')]).toEqual([
      -1467649443, -43978687,
    ]);
    expect([tokenHashOf(1, 'a'), targetHashOf('Patient/p7')]).toEqual([hash53('a', 1), hash53('Patient/p7')]);
  });

  it('have 0 for "no system" alone', () => {
    expect([systemHashOf(undefined), systemHashOf('')]).toEqual([0, 0]);
  });
});
