import { describe, expect, it } from '@jest/globals';
import { atOnce } from '../platform/time/steps';
import { RowHashes } from '../search-index/extract/row-hashes';
import { type SearchRows } from '../search-index/extract/search-rows';
import { indexDigestsOf } from './index-digests';
import { columnsOf } from './search-tables';

const hashes = new RowHashes({ low: 1, high: 2 });

const ROWS: SearchRows = {
  ...{ mainDate: undefined, patientHash: 5, present: 0n, dates: [], units: [] },
  tokens: [{ hash: 12, systemHash: -3 }],
  references: [{ targetHash: 4, parameterId: 1 }],
  numbers: [{ parameterId: 1, codeHash: 2, value: 0.5, unitHash: 3 }],
  strings: [{ parameterId: 1, valueHash: hashes.ofText('name'), value: 'name' }],
};

const digestsOf = (rows: SearchRows): string =>
  atOnce(
    indexDigestsOf(
      {
        ...{ version: 3, parametersVersion: 7, mainDate: new Date('2026-01-01T00:00:00Z') },
        columns: atOnce(columnsOf(rows)),
      },
      hashes,
    ),
  );

describe(indexDigestsOf, () => {
  it('returns the digests that are stored', () => {
    expect(digestsOf(ROWS)).toBe('3.7 khg2a3762j 6h8x7j3izt  8e72urb695 1k94pvlgb66');
  });

  it('covers each row of a long table', () => {
    const tokens = Array.from({ length: 5_000 }, (_, n) => ({ hash: n, systemHash: 0 }));
    const all = digestsOf({ ...ROWS, tokens });
    for (const place of [0, 2_047, 2_048, 4_999]) {
      const others = tokens.map((token, n) => (n === place ? { ...token, systemHash: 1 } : token));
      expect(digestsOf({ ...ROWS, tokens: others })).not.toBe(all);
    }
  });
});
