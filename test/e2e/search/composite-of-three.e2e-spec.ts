import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { idsOn } from '../../support/bundle';
import { storeOn } from '../../support/store';
import { startTestApp, type TestApp } from '../../../testing/test-app';

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/chromosome-human';

const sequence = (id: string, name: string, variants: readonly (readonly [number, number])[]): object => ({
  resourceType: 'MolecularSequence',
  id,
  type: 'dna',
  coordinateSystem: 0,
  referenceSeq: {
    // A reference sequence has either an id or a genome build, never both (invariant msq-6).
    ...(name.startsWith('NC_')
      ? { referenceSeqId: { coding: [{ system: 'http://www.ncbi.nlm.nih.gov/nuccore', code: name }] } }
      : { genomeBuild: 'GRCh 37', chromosome: { coding: [{ system: SYSTEM, code: name }] } }),
    windowStart: 100,
    windowEnd: 900,
  },
  variant: variants.map(([start, end]) => ({ start, end })),
});

describe('composites of three parts', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await store('a', '1', [
      [10, 20],
      [50, 60],
    ]);
    await store('b', '1', [[10, 60]]);
    await store('c', '2', [[10, 20]]);
    await store('n', 'NC_1', [
      [10, 20],
      [50, 60],
    ]);
  });
  afterAll(() => app.close());

  const store = (...content: Parameters<typeof sequence>): Promise<void> => storeOn(app, sequence(...content));

  const idsOf = (query: string): Promise<string[]> => idsOn(app, `/fhir/MolecularSequence?${query}`);

  it.each([
    ['chromosome-variant-coordinate=1$10$20', ['a']],
    // The value combines the start of one variant with the end of another.
    ['chromosome-variant-coordinate=1$10$60', ['b']],
    ['chromosome-variant-coordinate=1$ge10$le60', ['a', 'b']],
    ['chromosome-variant-coordinate=1$gt10$lt60', []],
    ['chromosome-variant-coordinate=1$ne10$60', ['a']],
    ['chromosome-variant-coordinate=1$10$20,2$10$20', ['a', 'c']],
    [`chromosome-variant-coordinate=${SYSTEM}|2$lt50$gt5`, ['c']],
    ['chromosome-variant-coordinate=http://other.example|2$lt50$gt5', []],
    ['chromosome-variant-coordinate=3$lt50$gt5', []],
    ['referenceseqid-variant-coordinate=NC_1$10$20', ['n']],
    ['referenceseqid-variant-coordinate=NC_1$10$60', []],
    ['chromosome-window-coordinate=1$100$900', ['a', 'b']],
    ['chromosome-window-coordinate=1$gt100$900', []],
    ['referenceseqid-window-coordinate=NC_1$lt200$gt800', ['n']],
  ])('find by %s', async (query, expected) => {
    expect(await idsOf(query)).toEqual(expected);
  });

  it('find only the current values of a resource', async () => {
    await store('d', '9', [[1, 2]]);
    expect(await idsOf('chromosome-variant-coordinate=9$1$2')).toEqual(['d']);
    await store('d', '8', [[1, 3]]);
    expect([
      await idsOf('chromosome-variant-coordinate=9$1$2'),
      await idsOf('chromosome-variant-coordinate=8$1$2'),
      await idsOf('chromosome-variant-coordinate=8$1$3'),
    ]).toEqual([[], [], ['d']]);
  });

  it.each(['1$10', '1$10$20$30', '1$$20', '1$10$', '$10$20', '1$x$20', '1$10$x'])(
    'are refused with %s',
    async (value) => {
      const answer = await app.get(`/fhir/MolecularSequence?chromosome-variant-coordinate=${value}`);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('chromosome-variant-coordinate')]);
    },
  );
});
