import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Client } from 'pg';
import { destination, newDestination, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

/** The interval of polls, longer than the tests, so that no poll explains an observed delivery. */
const POLL_MILLISECONDS = 60_000;

describe('a delivery attempt that waits for its response', () => {
  let app: TestApp;
  let silent: Server;
  const attempts: { isOver: boolean }[] = [];

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_DELIVERY_POLL_MILLISECONDS: String(POLL_MILLISECONDS) } });
    silent = createServer(({ socket }) => {
      const attempt = { isOver: false };
      attempts.push(attempt);
      socket.once('close', () => (attempt.isOver = true));
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    silent.closeAllConnections();
    silent.close();
    await app.close();
  });

  it.each<[string, (id: string, body: object) => Promise<unknown>]>([
    ['changed', (id, body) => app.put(`/fhir/SvcTopicDestination/${id}`, { ...body, content: 'id-only' })],
    ['deleted', (id) => app.delete(`/fhir/SvcTopicDestination/${id}`)],
  ])('is canceled when its destination is %s', async (_how, change) => {
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const body = destination(await newTopic(app, { resource: 'Basic' }), {}, url);
    const id = await newDestination(app, body);
    const before = attempts.length;
    await app.post('/fhir/Basic', { resourceType: 'Basic', code: { text: 'x' } });
    await eventually('it is sent', () => attempts.length > before);
    const attempt = attempts[before];
    expect(attempt?.isOver).toBe(false);
    await change(id, body);
    await eventually('it is ended', () => attempt?.isOver);
    await app.delete(`/fhir/SvcTopicDestination/${id}`);
  });
});

describe('destinations found by polling', () => {
  const DESTINATIONS = 100;
  const REST_MILLISECONDS = 10;
  const SLOTS = 4;
  let app: TestApp;
  let holder: Client;
  let writer: Client;

  beforeAll(async () => {
    const environment = { SVC_DELIVERY_SLOTS: String(SLOTS), SVC_DELIVERY_POLL_MILLISECONDS: '50' };
    app = await startTestApp({ environment });
    [holder, writer] = await Promise.all([connect(), connect()]);
  });
  afterAll(async () => {
    await Promise.all([holder.end(), writer.end()]);
    await app.close();
  });

  async function connect(): Promise<Client> {
    const client = await app.connect();
    return client;
  }

  /** Number of statements that claim a destination and wait for the lock on the table of open batches. */
  async function claiming(): Promise<number> {
    const { rows } = await writer.query<{ claims: number }>(
      `select count(*)::integer as claims from pg_locks where relation = 'open_batch'::regclass and not granted`,
    );
    return rows[0]?.claims ?? 0;
  }

  it('D2: are claimed by at most a quarter of the slots, with pauses, so that others get resources', async () => {
    const topic = await newTopic(app, { resource: 'Basic' });
    for (let made = 0; made < DESTINATIONS; made++) await newDestination(app, destination(topic));
    await holder.query('begin; lock table open_batch in share mode');
    const { rows: found } = await writer.query<{ key: string }>(`insert into outbox_event
        (destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
      select destination_key, 1, 1, 'Basic', 'b', 'create', 'PUT' from destination_runtime returning destination_key as key`);
    await eventually('one is claimed', async () => (await claiming()) > 0);
    await wait(500);
    expect(await claiming()).toBe(SLOTS / 4);
    const healthy = await WebhookReceiver.start();
    await newDestination(app, destination(await newTopic(app, { resource: 'Group' }), {}, healthy.url));
    const writeHealthy = (): Promise<unknown> => app.post('/fhir/Group', { type: 'person', actual: true });
    await writeHealthy();
    await holder.query('rollback');
    const openedAt = async (): Promise<number[]> => {
      const { rows } = await writer.query<{ at: number }>(
        `select extract(epoch from min(opened_at))::double precision * 1000 as at from delivery_attempt
        where destination_key = any($1) group by destination_key order by 1`,
        [found.map(({ key }) => key)],
      );
      return rows.map(({ at }) => at);
    };
    await eventually('each is tried beside healthy work', async () => {
      await writeHealthy();
      return (await openedAt()).length === DESTINATIONS;
    });
    await healthy.stop();
    const times = await openedAt();
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    // Timers of Node may fire a millisecond early.
    expect(Math.min(...pauses)).toBeGreaterThan(REST_MILLISECONDS - 1);
  });
});
