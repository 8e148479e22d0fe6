import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { QueueFloors } from '../../src/delivery/queue-floors';
import { countsOf, delivered, destination, newDestination, newTopic } from '../support/destinations';
import { type TestApp, startTestApp } from '../support/test-app';
import { WebhookReceiver } from '../support/webhook-receiver';

/** More than a floor leaves below itself. */
const MANY = 1500;

let app: TestApp;
let receiver: WebhookReceiver;
let floors: QueueFloors;
let destinationId: string;

beforeAll(async () => {
  // The worker neither polls nor raises floors by itself: the spec does.
  app = await startTestApp({ environment: { SVC_DELIVERY_POLL_MILLISECONDS: '60000' } });
  receiver = await WebhookReceiver.start();
  floors = app.app.get(QueueFloors, { strict: false });
  expect((await app.put('/fhir/Patient/p', { resourceType: 'Patient', id: 'p' })).status).toBe(201);
});
afterAll(async () => {
  await app.close();
  await receiver.stop();
});
beforeEach(async () => {
  const topic = await newTopic(app, { resource: 'Basic' });
  const parameter = [
    { name: 'endpoint', valueUrl: receiver.url },
    { name: 'maxMessagesInBatch', valueUnsignedInt: MANY },
  ];
  destinationId = await newDestination(app, destination(topic, { parameter, content: 'empty' }));
});

const query = <Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
  app.app.get(DataSource).query<Row[]>(sql, [...values]);

const APPEND = `insert into outbox_event (destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
  select destination_key, 1, 1, 'Patient', 'p', 'create', 'PUT' from destination_runtime, generate_series(1, $2::integer)
  where destination_id = $1 returning event_id::integer as number`;

/** Queues events, one more than `count`, and has the worker look for them. */
async function append(count: number): Promise<void> {
  await query(APPEND, [destinationId, count]);
  await wake();
}

/** By an event more. */
const wake = async (): Promise<void> => {
  expect((await app.post('/fhir/Basic', { resourceType: 'Basic', code: { text: 'wakes' } })).status).toBe(201);
};

const setNextAttempt = (at: string): Promise<object[]> =>
  query('update destination_runtime set next_attempt_at = $2 where destination_id = $1', [destinationId, at]);

/** From now on nobody delivers: what comes waits. */
const pause = (): Promise<object[]> => setNextAttempt('infinity');

/** Wakes the worker, by an event more. */
async function resume(): Promise<void> {
  await setNextAttempt('now');
  await wake();
}

const floor = async (): Promise<number> =>
  numberOf('select floor_event_id::integer as number from destination_runtime where destination_id = $1', [
    destinationId,
  ]);

const issued = (): Promise<number> => numberOf('select last_value::integer as number from outbox_event_event_id_seq');

async function numberOf(sql: string, values?: readonly unknown[]): Promise<number> {
  return (await query<{ number: number }>(sql, values))[0]?.number ?? Number.NaN;
}

/** As often as it takes to note the largest number, to find its writers gone, and to see what they left. */
const raise = async (): Promise<void> => {
  for (let polls = 0; polls < 3; polls++) await floors.raise();
};

describe('The floor of a queue', () => {
  it('rises to the largest number when everything was delivered', async () => {
    await pause();
    await append(MANY);
    await raise();
    expect(await floor()).toBe(0);
    await resume();
    await delivered(app, destinationId, MANY + 2);
    await raise();
    expect((await issued()) - (await floor())).toBeLessThan(MANY);
  });

  it('stays below an event that waits, and below one whose transaction is not over', async () => {
    const writer: QueryRunner = app.app.get(DataSource).createQueryRunner();
    try {
      await append(MANY);
      await writer.startTransaction();
      const [late] = (await writer.query(APPEND, [destinationId, 1])) as [{ number: number }];
      const done = 2 * MANY + 2;
      await append(MANY);
      await delivered(app, destinationId, done);
      await raise();
      expect(await floor()).toBeLessThan(late.number);

      await pause();
      await writer.commitTransaction();
      await raise();
      expect(await floor()).toBe(late.number - 1);

      await resume();
      await delivered(app, destinationId, done + 2);
    } finally {
      await writer.release();
    }
  });

  it('is given up when the sequence was set back, so that nothing is below it unseen', async () => {
    await append(MANY);
    await delivered(app, destinationId, MANY + 1);
    await raise();
    expect(await floor()).toBeGreaterThan(MANY);
    await query('alter sequence outbox_event_event_id_seq restart with 1');
    await floors.raise();
    expect(await floor()).toBe(0);
    await append(1);
    await delivered(app, destinationId, MANY + 3);
    expect(await countsOf(app, destinationId)).toMatchObject({ messagesQueued: 0, messagesInProcess: 0 });
  });
});
