import { rm, mkdtemp, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { DeliveryBed, type DeliveringServer } from '../support/delivery-bed';
import { arrivalsAt } from '../support/arrivals';
import { eventually } from '../../testing/eventually';
import { HeldTrigger } from '../support/held-trigger';
import { TcpProxy } from '../support/tcp-proxy';
import { databaseUrl } from '../../testing/databases';
import { makeTemplateDatabase } from '../../testing/template-database';

/** The points where a process is stopped: at a statement, or at the COMMIT after it. */
const HELD_POINTS = [
  ['before the event of a write is stored', { table: 'outbox_event', event: 'insert', when: 'at once' }],
  ['at the COMMIT of a write', { table: 'outbox_event', event: 'insert', when: 'at the commit' }],
  ['while a batch is claimed', { table: 'open_batch', event: 'insert', when: 'at once' }],
  ['at the COMMIT of a claim', { table: 'open_batch', event: 'insert', when: 'at the commit' }],
  [
    'after the receiver accepted a batch, before it is settled',
    { table: 'delivery_attempt', event: 'insert', when: 'at once' },
  ],
  ['at the COMMIT of a settlement', { table: 'open_batch', event: 'delete', when: 'at the commit' }],
] as const;

/** Waits until the queue is empty, then compares the stored, received and counted events. */
async function expectAllIsRight(bed: DeliveryBed, server: DeliveringServer): Promise<void> {
  await eventually('everything is delivered', async () => {
    const { counts } = await server.status();
    return counts.messagesQueued === 0 && counts.messagesInProcess === 0;
  });
  const committed = await bed.committed();
  const { keys, faults, repeated } = arrivalsAt(bed.receiver);
  expect(new Set(keys)).toEqual(committed);
  expect(faults).toEqual([]);
  const { counts } = await server.status();
  expect(counts.messagesDelivered).toBe(committed.size);
  expect(repeated).toBeLessThanOrEqual(counts.messageBatchesDeliveryAttempts ?? NaN);
}

/** After a kill another server takes over. The next test kills that server. */
describe('kill -9 of a server', () => {
  let bed: DeliveryBed;
  let server: DeliveringServer;
  let proxy: TcpProxy;

  beforeAll(async () => {
    // With this interval no poll runs, so that only the tested statements make transactions.
    bed = await DeliveryBed.open({ SVC_DELIVERY_POLL_MILLISECONDS: '60000' });
    proxy = await TcpProxy.start(bed.database.url);
    server = await bed.start({ DATABASE_URL: proxy.url });
    await server.makeDestination();
  });
  afterAll(async () => {
    await bed.close();
    await proxy.stop();
  });

  it.each(HELD_POINTS)('%s: no event is lost or invented (F1, F2)', async (_point, place) => {
    const held = await HeldTrigger.on(bed.database.url, place);
    const writing = server.putPatient('p', bed.receiver.requests.length).catch(() => undefined);
    await held.reached();
    await server.kill('SIGKILL');
    await held.release(bed.database.url);
    await writing;
    server = await bed.start({ DATABASE_URL: proxy.url });
    await expectAllIsRight(bed, server);
  });

  it('after a COMMIT whose response is lost: the event is sent although the client got no response (F1, F19)', async () => {
    const before = (await bed.committed()).size;
    const held = proxy.holdAnswer('COMMIT\0', 'unheard');
    const writing = server.putPatient('unheard', 1).catch(() => undefined);
    await held;
    await server.kill('SIGKILL');
    await writing;
    server = await bed.start({ DATABASE_URL: proxy.url });
    await expectAllIsRight(bed, server);
    expect((await bed.committed()).size).toBe(before + 1);
  });

  it('right after its response: each acknowledged event is sent (F1)', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map((value) => server.putPatient(`q${value}`, value)));
    await server.kill('SIGKILL');
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    server = await bed.start({ DATABASE_URL: proxy.url });
    await expectAllIsRight(bed, server);
  });
});

describe('A crash of the database', () => {
  let folder: string;
  let postgres: EmbeddedPostgres;
  let bed: DeliveryBed;
  let server: DeliveringServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-faults-'));
    await chmod(folder, 0o755);
    // A separate cluster, since this spec stops it.
    postgres = await startEmbeddedPostgres({ dataDirectory: folder });
    const name = 'svc_faults';
    await makeTemplateDatabase(postgres.url, name);
    bed = await DeliveryBed.open({}, { name, url: databaseUrl(postgres.url, name), drop: () => Promise.resolve() });
    server = await bed.start();
    await server.makeDestination();
  });
  afterAll(async () => {
    await bed.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(HELD_POINTS)('%s: the server keeps running, and no event is lost (F3)', async (_point, place) => {
    const held = await HeldTrigger.on(bed.database.url, place);
    const writing = server.putPatient('p', bed.receiver.requests.length).catch(() => undefined);
    await held.reached();
    await crash(bed);
    await held.release(bed.database.url);
    await writing;
    await eventually(
      'the server answers again',
      async () => (await server.putPatient('after', 1)).status < 300,
      30_000,
    );
    await expectAllIsRight(bed, server);
  });
});

/** Kills one backend (kill -9). PostgreSQL then ends all sessions and replays its WAL. */
async function crash(bed: DeliveryBed): Promise<void> {
  const [backend] = await bed.query(
    `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() limit 1`,
  );
  process.kill(backend?.pid as number, 'SIGKILL');
  await eventually('PostgreSQL is up again', () =>
    bed.query('select 1').then(
      () => true,
      () => false,
    ),
  );
}
