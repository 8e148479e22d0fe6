import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RowHashes } from '../../../src/search-index/extract/row-hashes';
import { type SearchRows } from '../../../src/search-index/extract/search-rows';
import { atOnce } from '../../../src/platform/time/steps';
import { indexDigestsOf } from '../../../src/store/index-digests';
import { reindexResources } from '../../../src/store/set-statements';
import { columnsOf } from '../../../src/store/search-tables';
import { type BoundStatement } from '../../../src/store/binder';
import { deleteResource, insertResource, type NewRow, updateResource } from '../../../src/store/write-statements';
import { PlanDatabase, type PlanNode } from '../../support/plan-database';

const hashes = new RowHashes({ low: 1, high: 2 });

const NONE: SearchRows = {
  ...{ mainDate: undefined, patientHash: 5, present: 0n },
  ...{ tokens: [], references: [], dates: [], numbers: [], strings: [], units: [] },
};

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_one, n) => make(n));

/** Makes `count` rows of one table, which are different for each `from`. */
const TABLES: readonly (readonly [table: string, rowsOf: (count: number, from: number) => Partial<SearchRows>])[] = [
  ['search_token', (count, from) => ({ tokens: times(count, (n) => ({ hash: from + n, systemHash: 1 })) })],
  [
    'reference_link',
    (count, from) => ({ references: times(count, (n) => ({ targetHash: from + n, parameterId: 1 })) }),
  ],
  [
    'search_date',
    (count, from) => ({ dates: times(count, (n) => ({ parameterId: 1, low: from + n, high: from + n })) }),
  ],
  [
    'search_number',
    (count, from) => ({
      numbers: times(count, (n) => ({ parameterId: 1, codeHash: 2, value: from + n, unitHash: 3 })),
    }),
  ],
  [
    'search_string',
    (count, from) => ({
      strings: times(count, (n) => {
        const value = `name ${from + n}`;
        return { parameterId: 1, valueHash: hashes.ofText(value), value };
      }),
    }),
  ],
];

const FEW = 200;

describe('S20: the index rows that a write reads', () => {
  let database: PlanDatabase;
  let lastKey = 1_000_000;
  let parametersVersion = 1;

  beforeAll(async () => {
    database = await PlanDatabase.open();
    const { rows } = await database.client.query<{ version: string }>('select version from search_parameter_version');
    parametersVersion = Number(rows[0]?.version);
  });
  afterAll(() => database.close());

  function versionOf(rows: Partial<SearchRows>, key: number, version = 1): NewRow {
    const row = {
      version,
      parametersVersion,
      mainDate: new Date('2026-01-01T00:00:00Z'),
      present: 0n,
      columns: atOnce(columnsOf({ ...NONE, ...rows })),
    };
    const name = { type: 'Basic', id: `r${key}`, key, referenceHash: key };
    return {
      ...row,
      ...name,
      method: 'PUT',
      updatedAt: new Date(),
      text: '{}',
      indexDigests: atOnce(indexDigestsOf(row, hashes)),
    };
  }

  const readBy = async (bound: BoundStatement): Promise<number> => rowsRead(await database.measuredPlanOf(bound));

  /** The rows read when `count` rows are replaced by an update, replaced by an index job, and removed. */
  async function readFor(
    count: number,
    rowsOf: (count: number, from: number) => Partial<SearchRows>,
  ): Promise<number[]> {
    const key = ++lastKey;
    const first = versionOf(rowsOf(count, 0), key);
    const { statement, values } = atOnce(insertResource(first));
    const given = values.map((value) => (value instanceof Date ? value.toISOString() : value));
    await database.client.query(statement.text, given);
    const second = versionOf(rowsOf(count, 100_000), key, 2);
    return [
      await readBy(atOnce(updateResource(first, second))),
      await readBy(atOnce(reindexResources([versionOf(rowsOf(count, 200_000), key, 2)], false))),
      await readBy(deleteResource(key, 3, new Date())),
    ];
  }

  describe.each([
    ['without statistics', false],
    ['with statistics', true],
  ])('of tables %s', (_state, isAnalyzed) => {
    beforeAll(async () => {
      if (isAnalyzed) await database.client.query('analyze');
    });

    it.each(TABLES)('grow linearly with the rows of %s', async (_table, rowsOf) => {
      const [few, more, many] = [
        await readFor(FEW, rowsOf),
        await readFor(4 * FEW, rowsOf),
        await readFor(16 * FEW, rowsOf),
      ];
      // Each row is read a fixed number of times: as a stored row, as a new row, and once by each plan node above. On
      // PostgreSQL 15 each side of a set operation has one more such node. If the number of reads grew with the square
      // of the rows, there would be at least FEW (200) reads of each row.
      for (const [count, read] of [
        [FEW, few],
        [4 * FEW, more],
        [16 * FEW, many],
      ] as const)
        expect([count, ...read.map((rows) => rows < 20 * count)]).toEqual([count, true, true, true]);
    });
  });
});

function rowsRead({ Plans = [], ...node }: PlanNode): number {
  const passed =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return Plans.reduce((sum, plan) => sum + rowsRead(plan), passed * node['Actual Loops']);
}
