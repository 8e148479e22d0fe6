import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { declareRestore, releaseDelivery } from '../../../tools/after-restore/declare-restore';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { delivered, destination, newDestination, newTopic } from '../../support/destinations';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { type NotificationBody, WebhookReceiver } from '../../../testing/webhook-receiver';

const TEST_TIMEOUT_MILLISECONDS = 120_000;
/** Settings without polls: the worker runs only when a write wakes it, and creates no generation after its start. */
const NO_POLL = { SVC_DELIVERY_POLL_MILLISECONDS: '60000' };

let database: ClonedDatabase;
let client: Client;
let receiver: WebhookReceiver;
let app: TestApp;
let id: string;

beforeAll(async () => {
  database = await cloneDatabase('started');
  client = new Client({ connectionString: database.url });
  await client.connect();
  receiver = await WebhookReceiver.start();
  app = await startTestApp({ databaseUrl: database.url, environment: NO_POLL });
}, TEST_TIMEOUT_MILLISECONDS);
afterAll(async () => {
  await app.close();
  await receiver.stop();
  await client.end();
  await database.drop();
}, TEST_TIMEOUT_MILLISECONDS);
beforeEach(async () => {
  await releaseDelivery(database.url);
  receiver.requests.splice(0);
  receiver.always({ kind: 'answer', status: 200 });
  id = await newDestination(app, destination(await newTopic(app, { resource: 'Basic' }), {}, receiver.url));
}, TEST_TIMEOUT_MILLISECONDS);
// Queued events of one test must not be sent during the next one.
afterEach(async () => {
  await app.delete(`/fhir/SvcTopicDestination/${id}`);
}, TEST_TIMEOUT_MILLISECONDS);

async function write(): Promise<void> {
  expect((await app.post('/fhir/Basic', { resourceType: 'Basic', code: { text: 'x' } })).status).toBe(201);
}

const renewBy = async (by: Client): Promise<unknown> =>
  (await by.query<{ finding: unknown }>('select renew_delivery_generation(false) as finding')).rows[0]?.finding;
const renew = (): Promise<unknown> => renewBy(client);

const stored = async (): Promise<{ generation: string; is_held: boolean }> => {
  const { rows } = await client.query<{ generation: string; is_held: boolean }>('select * from delivery_generation');
  return rows[0] ?? { generation: '', is_held: false };
};

/** The generation of each received notification. */
const generations = (): unknown[] =>
  receiver.requests.map(({ body }) => {
    const { extension } = (JSON.parse(body) as NotificationBody).entry[0].resource as { extension?: object[] };
    return extension;
  });
const extensionOf = (generation: string): object[] => [
  { url: 'http://profiles.example/StructureDefinition/delivery-generation', valueUuid: `urn:uuid:${generation}` },
];

const status = async (): Promise<unknown> =>
  (await app.get(`/fhir/SvcTopicDestination/${id}/$status`))
    .json<{ parameter: { name: string; valueString?: string }[] }>()
    .parameter.find(({ name }) => name === 'status')?.valueString;

const forget = (columns: string): Promise<unknown> => client.query(`update delivery_generation set ${columns}`);

describe('The delivery generation', () => {
  it('D5: is in every notification, and stays the same in the same cluster', async () => {
    await write();
    await delivered(app, id, 1);
    expect(await renew()).toBeNull();
    await write();
    await delivered(app, id, 2);
    const { generation } = await stored();
    expect(generations()).toEqual([extensionOf(generation), extensionOf(generation)]);
  });

  it('D5: is kept, and delivery continues, if no cluster identifier is stored yet', async () => {
    const { generation } = await stored();
    await forget('system_identifier = null, timeline = null');
    expect(await renew()).toBe('stored');
    await write();
    await delivered(app, id, 1);
    expect(await stored()).toMatchObject({ generation, is_held: false });
  });

  it('D5: changes after a promotion, before any batch is opened, and delivery is not held', async () => {
    const { generation } = await stored();
    await forget(`timeline = '00000000'`);
    await write();
    await write();
    expect(receiver.requests).toEqual([]);
    expect(await renew()).toBe('timeline');
    await write();
    await delivered(app, id, 3);
    const renewed = await stored();
    expect(renewed.generation).not.toBe(generation);
    expect(generations()).toContainEqual(extensionOf(renewed.generation));
    expect(generations()).not.toContainEqual(extensionOf(generation));
  });

  it('D5: changes once if several servers detect a promotion together', async () => {
    await forget(`timeline = '00000000'`);
    const clients = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const other = new Client({ connectionString: database.url });
        await other.connect();
        return other;
      }),
    );
    const found = await Promise.all(clients.map(renewBy));
    await Promise.all(clients.map((other) => other.end()));
    expect(found.filter((finding) => finding !== null)).toEqual(['timeline']);
  });

  it('D5: changes in another cluster, where delivery is held until it is released', async () => {
    const { generation } = await stored();
    await client.query(`update outbox_mark set decided_event_id = 5, noted_event_id = 6, noted_by = '999999999'`);
    await client.query('update destination_runtime set low_water_mark = 5, owner_slot = 1');
    await client.query(`select setval('outbox_event_id', 1)`);
    await client.query(`insert into outbox_event
        (event_id, destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
      select 1000000, destination_key, 1, 1, 'Basic', 'x', 'create', 'POST' from destination_runtime
      where destination_id = '${id}'`);
    await forget(`system_identifier = '1'`);
    expect(await renew()).toBe('cluster');
    expect(await stored()).toMatchObject({ is_held: true });
    const { rows } = await client.query(`select m.decided_event_id as decided, m.noted_by, r.low_water_mark as mark,
        r.owner_slot as slot, s.last_value as issued
      from outbox_mark m, outbox_event_id s, destination_runtime r where r.destination_id = '${id}'`);
    expect(rows).toEqual([{ decided: '0', noted_by: '0', mark: '0', slot: null, issued: '1000000' }]);
    await write();
    expect(await status()).toBe('held');
    expect(receiver.requests).toEqual([]);

    await releaseDelivery(database.url);
    await write();
    await delivered(app, id, 3);
    expect(await status()).toBe('active');
    expect(generations()).not.toContainEqual(extensionOf(generation));
  });

  it('D5: changes after a declared restore; a batch that was open in the backup keeps its own', async () => {
    const { generation } = await stored();
    receiver.always({ kind: 'answer', status: 503 });
    await write();
    await delivered(app, id, 0);
    while (receiver.requests.length === 0) await delivered(app, id, 0);
    await declareRestore(database.url);
    expect(await status()).toBe('held');
    receiver.requests.splice(0);
    receiver.always({ kind: 'answer', status: 200 });
    await client.query('update destination_runtime set next_attempt_at = clock_timestamp()');
    await write();
    expect(receiver.requests).toEqual([]);
    await releaseDelivery(database.url);
    await write();
    await delivered(app, id, 3);
    const renewed = await stored();
    expect(generations()[0]).toEqual(extensionOf(generation));
    expect(generations().slice(1)).toContainEqual(extensionOf(renewed.generation));
  });

  it(
    'D5: is not changed by a copy with SVC_DELIVERY=off, which delivers nothing',
    async () => {
      await forget(`timeline = '00000000'`);
      const before = await stored();
      const copy = await startTestApp({
        databaseUrl: database.url,
        environment: { SVC_DELIVERY: 'off', SVC_DELIVERY_POLL_MILLISECONDS: '100' },
      });
      try {
        expect((await copy.post('/fhir/Basic', { resourceType: 'Basic', code: { text: 'x' } })).status).toBe(201);
        await new Promise((resolve) => setTimeout(resolve, 500));
        expect(receiver.requests).toEqual([]);
        expect(await stored()).toEqual(before);
      } finally {
        await copy.close();
      }
    },
    TEST_TIMEOUT_MILLISECONDS,
  );

  it(
    'D5: is changed by a running server, which continues to deliver',
    async () => {
      const other = await startTestApp({
        databaseUrl: database.url,
        environment: { SVC_DELIVERY_POLL_MILLISECONDS: '100' },
      });
      try {
        await forget(`timeline = '00000000'`);
        await write();
        await delivered(app, id, 1);
      } finally {
        await other.close();
      }
    },
    TEST_TIMEOUT_MILLISECONDS,
  );
});
