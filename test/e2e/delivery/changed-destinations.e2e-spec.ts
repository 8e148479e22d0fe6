import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { eventually } from '../../../testing/eventually';
import { startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';
import { eventsOf, useDestinationApp } from '../../support/destination-app';
import { newName } from '../../support/destinations';

const used = useDestinationApp();
const { endpoint, destination, newTopic, newDestination, write, status, delivered, received } = used;

describe('A changed destination', () => {
  it('sends queued events to its new endpoint immediately, with the same event numbers', async () => {
    const destinationId = await newDestination(await newTopic(), [endpoint()]);
    used.receiver.always({ kind: 'hang' });
    const id = newName();
    await write(id);
    await received(1);
    const other = await WebhookReceiver.start();
    try {
      const read = (await used.app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json();
      const changedAt = performance.now();
      const changed = await used.app.put(`/fhir/SvcTopicDestination/${destinationId}`, {
        ...read,
        parameter: [{ name: 'endpoint', valueUrl: other.url }],
      });
      expect(changed.status).toBe(200);
      await delivered(destinationId, 1);
      expect(other.request(0).at - changedAt).toBeLessThan(25_000); // the attempt before it has 30 s, and the poll comes after 60 s
      expect([eventsOf(other.bodies), other.requests[0]?.body]).toEqual([
        [[[1, `Patient/${id}`]]],
        used.receiver.requests[0]?.body,
      ]);
      expect(await status(destinationId)).toMatchObject({
        counts: { messageBatchesDelivered: 1, messageBatchesDeliveryAttempts: 1 },
      });
    } finally {
      await other.stop();
    }
  });

  it.each([
    ['id-only', 'full-resource'],
    ['full-resource', 'id-only'],
  ])('completes the open batch with content %s and continues with %s', async (before, after) => {
    const topic = await newTopic();
    const destinationId = await newDestination(topic, [endpoint()], { content: before });
    used.receiver.next({ kind: 'hang' });
    const [first, second] = [newName(), newName()];
    await write(first);
    await received(1);
    await write(second);
    const path = `/fhir/SvcTopicDestination/${destinationId}`;
    expect((await used.app.put(path, destination(topic, [endpoint()], { content: after }))).status).toBe(200);
    await delivered(destinationId, 2);
    const contents = used.receiver.bodies.map(({ entry: [, { fullUrl, resource } = {}] }) => ({
      fullUrl,
      ...(resource === undefined ? {} : { id: (resource as { id: string }).id }),
    }));
    const shown = (id: string, content: string): object => ({
      fullUrl: expect.stringContaining(`/${id}`),
      ...(content === 'full-resource' ? { id } : {}),
    });
    expect(contents).toEqual([shown(first, before), shown(first, before), shown(second, after)]);
  });

  it('resets the pause after failures', async () => {
    const destinationId = await newDestination(await newTopic());
    used.receiver.always({ kind: 'answer', status: 503, headers: { 'retry-after': '600' } });
    await write(newName());
    await eventually('it failed', async () => (await status(destinationId)).errors.length === 1);
    used.receiver.always({ kind: 'answer', status: 200 });
    const read = (await used.app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json();
    await used.app.put(`/fhir/SvcTopicDestination/${destinationId}`, { ...read, content: 'id-only' });
    await delivered(destinationId, 1);
  });
});

describe('A deleted destination', () => {
  it('sends nothing more, and has no queue', async () => {
    const topic = await newTopic();
    const destinationId = await newDestination(topic);
    used.receiver.always({ kind: 'answer', status: 500 });
    await write(newName());
    await received(1);
    expect((await used.app.delete(`/fhir/SvcTopicDestination/${destinationId}`)).status).toBe(200);
    expect((await used.app.get(`/fhir/SvcTopicDestination/${destinationId}/$status`)).status).toBe(404);
    const orphans = `select from open_batch
      where destination_key not in (select destination_key from destination_runtime)`;
    expect(await used.app.app.get(DataSource).query(orphans)).toEqual([]);
    used.receiver.always({ kind: 'answer', status: 200 });
    const before = used.receiver.requests.length;
    const again = newName();
    await used.app.put(`/fhir/SvcTopicDestination/${destinationId}`, { ...destination(topic), id: destinationId });
    await write(again);
    await delivered(destinationId, 1);
    expect(eventsOf(used.receiver.bodies.slice(before))).toEqual([[[1, `Patient/${again}`]]]);
  });

  it('is deleted immediately, however long its queue is; the queue is deleted in batches later', async () => {
    const database = used.app.app.get(DataSource);
    const keyOf = async (id: string): Promise<number> => {
      const [row] = await database.query<{ key: string }[]>(
        'select destination_key as key from destination_runtime where destination_id = $1',
        [id],
      );
      return Number(row?.key);
    };
    used.receiver.always({ kind: 'answer', status: 500 });
    const topic = await newTopic();
    const ids = [await newDestination(topic), await newDestination(topic), await newDestination(topic)];
    await write(newName());
    await received(ids.length);
    const keys = await Promise.all(ids.map(keyOf));
    await database.query(
      `insert into outbox_event (destination_key, resource_type, resource_id, version, interaction, method, payload_bytes)
        select key, 'Patient', 'p', 1, 'create', 'PUT', 1 from unnest($1::bigint[]) key, generate_series(1, 2500)`,
      [keys],
    );
    const queued = async (): Promise<number[]> => {
      const rows = await database.query<{ events: string }[]>(
        `select (select count(*) from outbox_event where destination_key = key) as events
          from unnest($1::bigint[]) with ordinality k(key, place) order by place`,
        [keys],
      );
      return rows.map(({ events }) => Number(events));
    };
    const reader = await used.app.connect();
    try {
      await reader.query('begin');
      await reader.query('select from outbox_event where destination_key = any($1::bigint[]) for update', [keys]);
      for (const id of [ids[2], ids[0]])
        expect((await used.app.delete(`/fhir/SvcTopicDestination/${id}`)).status).toBe(200);
    } finally {
      await reader.query('rollback');
      await reader.end();
    }
    await eventually('their queues are gone', async () => {
      const [first, , third] = await queued();
      return first === 0 && third === 0;
    });
    expect((await queued())[1]).toBe(2500);
  });

  it('leaves no orphaned events behind', async () => {
    const database = used.app.app.get(DataSource);
    await database.query(`insert into outbox_event
        (destination_key, resource_type, resource_id, version, interaction, method, payload_bytes)
      values (999999, 'Patient', 'p', 1, 'create', 'PUT', 1)`);
    const sweeper = await startTestApp({
      databaseUrl: used.app.databaseUrl,
      environment: { SVC_DELIVERY_POLL_MILLISECONDS: '50' },
    });
    const left = (): Promise<unknown[]> => database.query('select from outbox_event where destination_key = 999999');
    await eventually('they are gone', async () => (await left()).length === 0);
    await sweeper.close();
  });
});

describe('$status', () => {
  it('has the properties in the specified order', async () => {
    const destinationId = await newDestination(await newTopic());
    const answer = await used.app.get(`/fhir/SvcTopicDestination/${destinationId}/$status`);
    const zero = (name: string): object => ({ name, valueDecimal: 0 });
    expect([answer.status, answer.json()]).toEqual([
      200,
      {
        resourceType: 'Parameters',
        parameter: [
          zero('messageBatchesDelivered'),
          zero('messageBatchesDeliveryAttempts'),
          zero('messagesDelivered'),
          zero('messagesDeliveryAttempts'),
          zero('messagesInProcess'),
          zero('messagesQueued'),
          { name: 'startTimestamp', valueDateTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) },
          { name: 'status', valueString: 'active' },
        ],
      },
    ]);
  });

  it('counts events in process and queued events', async () => {
    const destinationId = await newDestination(await newTopic(), [
      endpoint(),
      { name: 'maxMessagesInBatch', valueUnsignedInt: 2 },
    ]);
    used.receiver.always({ kind: 'hang' });
    await write(newName());
    await received(1);
    for (let count = 0; count < 4; count++) await write(newName());
    expect((await status(destinationId)).counts).toMatchObject({
      messagesDelivered: 0,
      messagesInProcess: 1,
      messagesQueued: 4,
    });
  });

  it('shows at most five errors, newest first', async () => {
    const destinationId = await newDestination(await newTopic());
    const read = (await used.app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json();
    used.receiver.always({ kind: 'answer', status: 500 });
    await write(newName());
    for (const code of [500, 501, 502, 503, 504, 505]) {
      await eventually(
        `it failed with ${code}`,
        async () => (await status(destinationId)).errors[0] === `HTTP ${code}`,
      );
      used.receiver.always({ kind: 'answer', status: code + 1, headers: { 'retry-after': '600' } });
      // A write that changes the destination ends its pause.
      await used.app.put(`/fhir/SvcTopicDestination/${destinationId}`, {
        ...read,
        content: code % 2 === 0 ? 'empty' : 'id-only',
      });
    }
    await eventually('it failed once more', async () => (await status(destinationId)).errors[0] === 'HTTP 506');
    expect((await status(destinationId)).errors).toEqual(['HTTP 506', 'HTTP 505', 'HTTP 504', 'HTTP 503', 'HTTP 502']);
  });

  it('is 404 for an unknown destination', async () => {
    expect((await used.app.get('/fhir/SvcTopicDestination/never/$status')).status).toBe(404);
  });
});
