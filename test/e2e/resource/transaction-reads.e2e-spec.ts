import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { eventually } from '../../../testing/eventually';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';
import { transactionOn } from '../../support/bundle';

const basic = (text: string): object => ({ resourceType: 'Basic', id: 'shared', code: { text } });
const put = { resource: basic('transaction'), request: { method: 'PUT', url: 'Basic/shared' } };
const get = (url: string): object => ({ request: { method: 'GET', url } });
/** A search that waits for a lock on the table of numbers. No write of a Basic needs that table. */
const SLOW = 'RiskAssessment?probability=0.5';

describe('S8.3: slow reads in a transaction', () => {
  let app: TestApp;
  let other: Client;

  beforeAll(async () => {
    app = await startTestApp();
    other = await app.connect();
    await app.put('/fhir/Basic/shared', basic('before'));
    await app.get(`/fhir/${SLOW}`);
  });
  afterAll(() => app.close());

  const transact = (...entry: readonly object[]): Promise<Received> => transactionOn(app, entry);
  const textOf = async (): Promise<unknown> =>
    (await app.get('/fhir/Basic/shared')).json<{ code: { text: string } }>().code.text;
  const isSearching = async (): Promise<boolean> => {
    // Within a transaction, PostgreSQL shows the statistics of the first read until they are cleared.
    await other.query('select pg_stat_clear_snapshot()');
    const { rows } = await other.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%search_number%'`,
    );
    return rows.length > 0;
  };
  /** Runs `work` while the search is blocked. */
  const whileSlow = async <T>(work: () => Promise<T>): Promise<T> => {
    await other.query('begin; lock table search_number in access exclusive mode');
    try {
      return await work();
    } finally {
      await other.query('rollback');
    }
  };

  it('block other writers of its rows for at most two seconds, and then roll back', async () => {
    await whileSlow(async () => {
      const slow = transact(put, get('Basic/shared'), get(SLOW), get('Basic/shared'));
      await eventually('the search waits', isSearching);
      // A write that waits for 5 s is refused with 503.
      expect((await app.put('/fhir/Basic/shared', basic('other'))).status).toBe(200);
      const answer = await slow;
      expect([answer.status, answer.json()]).toEqual([
        504,
        expect.objectContaining({
          issue: [
            expect.objectContaining({
              diagnostics: expect.stringMatching(
                /^Bundle\.entry\[2\]: The reads of this transaction took longer than 2 s/,
              ),
              expression: ['Bundle.entry[2]'],
            }),
          ],
        }),
      ]);
    });
    expect(await textOf()).toBe('other');
    const { rows } = await other.query(
      `select count(*)::integer as versions from resource_history where id = 'shared'`,
    );
    expect(rows).toEqual([{ versions: 1 }]);
  });

  it('may take as long as any search if the transaction writes nothing', async () => {
    const answer = await whileSlow(async () => {
      const reading = transact(get(SLOW), get('Basic/shared'));
      await eventually('the search waits', isSearching);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      return { reading };
    });
    expect((await answer.reading).status).toBe(200);
  });

  it('keep to their own shorter limit', async () => {
    await whileSlow(async () => {
      const answer = await transact(put, get(`${SLOW}&_timeout=1`), get('Basic/shared'));
      expect([answer.status, answer.text]).toEqual([504, expect.stringContaining('The search took longer than 1 s')]);
    });
    expect(await textOf()).toBe('other');
  });

  it('return the writes of the transaction, at every position', async () => {
    const answer = await transact(get('Basic/shared'), put, get('Basic?_id=shared'));
    const { entry } = answer.json<{ entry: { resource?: { code?: object; total?: number } }[] }>();
    expect(entry.map(({ resource }) => resource)).toEqual([
      expect.objectContaining({ code: { text: 'transaction' } }),
      undefined,
      expect.objectContaining({ total: 1 }),
    ]);
  });
});
