import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { eventually } from '../../../testing/eventually';
import { ROOT, type TestApp, startTestApp } from '../../../testing/test-app';
import { storeHeavyChart } from '../../support/long-chart';

const PATH = '/fhir/Patient/long/$everything';
const FORMS = ['_format=ndjson', '_format=json', '_format=yaml', '_pretty=true'];

/** The number of resources. Together they have 30 MB, more than the sockets and streams in between hold. */
const RESOURCES = 300;
const POOL_SIZE = 4;

describe('Patient/$everything for a client that disconnects', () => {
  let app: TestApp;
  let watcher: Client;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_DATABASE_POOL_SIZE: String(POOL_SIZE) } });
    watcher = await app.connect();
    await storeHeavyChart(app, 'long', RESOURCES);
  }, 60_000);
  afterAll(() => app.close());

  /** Number of connections of the server that are in use. */
  const busyConnections = async (): Promise<number> => {
    const { rows } = await watcher.query<{ busy: number }>(
      `select count(*)::integer as busy from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
    );
    return rows[0]?.busy ?? 0;
  };

  /** Begins a response: its first bytes are received, and no more is read. */
  const begin = async (query: string): Promise<IncomingMessage> => {
    const request = get(`${app.url}${PATH}?${query}`, { headers: { Authorization: ROOT }, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    await once(response, 'readable');
    response.read(1);
    return response;
  };

  it('holds one connection during a stream, and releases it at the end', async () => {
    const response = await begin('_format=ndjson');
    await eventually('one connection is busy', async () => (await busyConnections()) === 1);
    let lines = 0;
    response.on('data', (chunk: Buffer) => (lines += chunk.toString().split('\n').length - 1));
    await once(response, 'end');
    expect(lines).toBe(RESOURCES + 1);
    await eventually('the connection is idle', async () => (await busyConnections()) === 0);
  });

  it.each(FORMS)('S11: sends as the client reads, and ends when the client disconnects: %s', async (query) => {
    // Opens more streams, one after the other, than the pool has connections.
    for (let round = 0; round < POOL_SIZE + 1; round++) {
      const response = await begin(query);
      // The snapshot stays open: the rest is read from the database only when the caller reads on.
      await eventually('one connection is busy', async () => (await busyConnections()) === 1);
      response.destroy();
      await eventually('the connection is idle', async () => (await busyConnections()) === 0);
    }
    expect((await app.get('/fhir/Patient/long')).status).toBe(200);
  });

  it.each(['', '_include=*', '_count=5', '_manifest=1', '_summary=count', '_explain=1'])(
    'S11: cancels its running statement when the client disconnects: %s',
    async (query) => {
      const blocker = await app.connect();
      await blocker.query('begin; lock table reference_link in access exclusive mode');
      try {
        const request = get(`${app.url}${PATH}?${query}`, { headers: { Authorization: ROOT }, agent: false });
        request.on('error', () => undefined);
        // One busy connection is the blocker's, the second one is the request's.
        await eventually('a statement waits for the lock', async () => (await busyConnections()) === 2);
        request.destroy();
        await eventually('it is canceled', async () => (await busyConnections()) === 1, 3_000);
      } finally {
        await blocker.query('rollback');
        await blocker.end();
      }
    },
  );
});
