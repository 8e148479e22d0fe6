import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { type Slots } from '../../../src/platform/admission/slots';
import { BundleProcessor } from '../../../src/rest/bundle/bundle-processor';
import { eventually } from '../../../testing/eventually';
import { ROOT, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';

const WARD = basicHeader('ward', 'secret of the ward');

interface Entry {
  readonly resource?: object;
  readonly request: object;
}
const put = (id: string): Entry => ({
  resource: { resourceType: 'Basic', id, code: { text: `bundle ${Math.random()}` } },
  request: { method: 'PUT', url: `Basic/${id}` },
});
const read: Entry = { request: { method: 'GET', url: 'Basic/locked' } };

describe('S15: the concurrency limit of Bundles', () => {
  let app: TestApp;
  let locker: Client;
  const clients: AbortController[] = [];

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_DATABASE_POOL_SIZE: '8' } });
    await app.put('/Client/ward', { secret: 'secret of the ward', grant_types: ['basic'] });
    await app.put('/AccessPolicy/ward', { engine: 'allow', link: [{ resourceType: 'Client', id: 'ward' }] });
    await app.put('/Basic/locked', { resourceType: 'Basic', code: { text: 'first' } });
    locker = await app.connect();
  });
  afterAll(() => app.close());
  beforeEach(() => locker.query(`begin; select 1 from resource where id = 'locked' for update`));
  afterEach(async () => {
    await locker.query('rollback');
    for (const client of clients.splice(0)) client.abort();
  });

  /** Sends with a client that can disconnect before the response. */
  const send = (type: string, entry: readonly Entry[], authorization = ROOT) => {
    const client = new AbortController();
    clients.push(client);
    const answered = fetch(`${app.url}/fhir`, {
      ...{ method: 'POST', signal: client.signal },
      headers: { Authorization: authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ resourceType: 'Bundle', type, entry }),
    }).then(
      ({ status }) => status,
      () => undefined,
    );
    return {
      answered,
      leave: () => {
        client.abort();
      },
    };
  };
  const waitingStatements = async (): Promise<number> => {
    const { rows } = await locker.query<{ count: number }>(
      `select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]?.count ?? 0;
  };
  const slots = (): Slots => app.app.get<{ readonly slots: Slots }>(BundleProcessor, { strict: false }).slots;
  /** Disconnects a client whose Bundle waits for the lock, and waits for the end of the Bundle. */
  const leave = async ({ leave }: { leave: () => void }): Promise<void> => {
    leave();
    await eventually('its statement is canceled', async () => (await waitingStatements()) === 0);
    await locker.query('rollback');
    await eventually('the Bundle is over', () => slots().inUse === 0);
  };
  const isStored = async (id: string): Promise<boolean> => (await app.get(`/Basic/${id}`)).status === 200;

  it.each(['batch', 'transaction'])(
    'S15: a %s of another caller begins while many of one caller wait',
    async (type) => {
      const flood = Array.from({ length: 8 }, () => send('batch', [put('locked')]));
      let isFirst = true;
      void Promise.race(flood.map(({ answered }) => answered)).then(() => (isFirst = false));
      await eventually('the flood waits for the lock', async () => (await waitingStatements()) > 0);
      expect(await send(type, [put(`of-the-ward-${type}`)], WARD).answered).toBe(200);
      expect(isFirst).toBe(true);
      await locker.query('rollback');
      expect(new Set(await Promise.all(flood.map(({ answered }) => answered)))).toEqual(new Set([200]));
    },
  );

  it('S15: a batch stops when its client disconnects', async () => {
    const batch = send('batch', [put('locked'), read, put('never-in-batch'), read, put('neither')]);
    await eventually('it waits for the lock', async () => (await waitingStatements()) > 0);
    await leave(batch);
    expect([await isStored('never-in-batch'), await isStored('neither')]).toEqual([false, false]);
  });

  it('S15: a transaction is not committed after its client disconnected', async () => {
    const transaction = send('transaction', [put('locked'), put('never-in-transaction')]);
    await eventually('it waits for the lock', async () => (await waitingStatements()) > 0);
    await leave(transaction);
    expect(await isStored('never-in-transaction')).toBe(false);
  });

  it('S15: a queued Bundle leaves the queue when its client disconnects', async () => {
    const flood = Array.from({ length: 2 }, () => send('batch', [put('locked')]));
    await eventually('two hold the slots of the caller', async () => (await waitingStatements()) > 0);
    const queued = send('batch', [put('never-begun')]);
    await eventually('the third one waits for a slot', () => slots().waiting === 1);
    queued.leave();
    // After 5 s the others give the lock up, and it would begin.
    await eventually('it has left the queue', () => slots().waiting === 0, 4_000);
    await locker.query('rollback');
    await Promise.all(flood.map(({ answered }) => answered));
    await eventually('all Bundles are over', () => slots().inUse === 0);
    expect(await isStored('never-begun')).toBe(false);
  });
});
