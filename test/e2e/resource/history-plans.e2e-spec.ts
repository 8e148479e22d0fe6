import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { type HistoryScope, historyPage, historyTotal, READ_FEED } from '../../../src/store/history-statements';
import { PlanDatabase, type PlanNode } from '../../support/plan-database';

const period = { start: new Date('2020-01-02T00:00:00Z'), end: new Date('2020-01-02T01:00:00Z') };
const from = { updatedAt: new Date('2020-01-01T02:00:00Z'), type: 'Patient', id: 'r7', version: 2 };

const SCOPES: readonly (readonly [name: string, scope: HistoryScope])[] = [
  ['a resource', { types: ['Patient'], id: 'r7' }],
  ['a type', { types: ['Patient'] }],
  ['all types', { types: ['Basic', 'Observation', 'Patient'] }],
];

describe.each([
  ['full tables with statistics', true],
  // A connection keeps a plan that it made for empty tables until the tables have statistics.
  ['empty tables without statistics', false],
])('the plans of a history on %s', (_state, isFull) => {
  let database: PlanDatabase;

  beforeAll(async () => {
    database = await PlanDatabase.open();
    if (isFull) await fill(database.client);
  }, 60_000);
  afterAll(() => database.close());

  describe.each(SCOPES)('of %s', (_name, scope) => {
    it.each(['older', 'newer'] as const)(
      'reads %s versions along indexes by time and stops after a page',
      async (direction) => {
        for (const limited of [scope, { ...scope, since: period.start }, { ...scope, period }]) {
          for (const walk of [
            { direction, limit: 21, skip: 0 },
            { direction, limit: 21, skip: 0, from },
          ]) {
            const plan = await database.planOf(historyPage(limited, walk, false));
            expect(plan).not.toMatch(/Seq Scan/);
            // A full sort below the limit would read all versions of a type for one page. PostgreSQL 15 plans one for
            // tables that it believes empty, until autovacuum first gathers their statistics.
            if (scope.id === undefined && (isFull || database.major > 15))
              expect(plan.match(/Incremental Sort/g)).toHaveLength(2);
          }
        }
      },
    );

    it('D4: a feed reads only new versions', async () => {
      const news = { ...scope, afterTransaction: await lastTransaction(database.client) };
      for (const bound of [
        { statement: READ_FEED, values: [scope.types, news.afterTransaction] },
        historyPage(news, { direction: 'older', limit: 21, skip: 0 }, true),
        historyPage({ ...news, since: period.start }, { direction: 'newer', limit: 21, skip: 0, from }, true),
        historyTotal(news),
      ]) {
        const plan = await database.planOf(bound);
        expect(plan).not.toMatch(/Seq Scan/);
        if (scope.id !== undefined) continue;
        expect((plan.match(/Index Cond: .*transaction_id >/g) ?? []).length).toBeGreaterThanOrEqual(2);
        expect(rowsRead(await database.measuredPlanOf(bound))).toBeLessThan(50);
      }
    });

    it('count by indexes', async () => {
      expect(await database.planOf(historyTotal(scope))).not.toMatch(/Seq Scan/);
      expect(await database.planOf(historyTotal({ ...scope, period }))).not.toMatch(/Seq Scan/);
    });
  });

  it('use one statement for one query shape, whatever its values', () => {
    const [one, other] = ['Patient', 'Basic'].map((type) =>
      historyPage({ types: [type] }, { direction: 'older', limit: type.length, skip: 0 }, true),
    );
    expect(one?.statement).toEqual(other?.statement);
    expect(one?.values).not.toEqual(other?.values);
  });
});

/** The number of rows that all nodes of a plan read, including rows that a filter removed. */
function rowsRead({ Plans = [], ...node }: PlanNode): number {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return Plans.reduce((sum, plan) => sum + rowsRead(plan), own);
}

async function lastTransaction(client: Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>('select (pg_current_xact_id()::text::numeric - 1)::text as id');
  return rows[0]?.id ?? '';
}

async function fill(client: Client): Promise<void> {
  await client.query('truncate resource');
  await client.query(
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select n, timestamptz '2020-01-01', timestamptz '2020-01-01' + n * interval '1 second', n, 3,
         (array['Basic', 'Observation', 'Patient'])[1 + n % 3], 'r' || n, 'PUT', repeat('x', 500)
       from generate_series(1, 20000) n`,
  );
  await client.query(
    `insert into resource_history (updated_at, version, type, id, method, body)
       select updated_at - k * interval '1 hour', 3 - k, type, id, 'PUT', body from resource, generate_series(1, 2) k`,
  );
  await client.query('analyze');
}
