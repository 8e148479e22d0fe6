import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { replaceQueueFloors } from '../../../src/platform/database/migrations/1795000000100-replace-queue-floors';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { countsOf, delivered, destination, newDestination, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { TcpProxy } from '../../support/tcp-proxy';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

/** The number of events that are appended at once: more than 1,000, the least step of the low-water mark. */
const MANY = 1500;
const POLL_MILLISECONDS = 100;
/** Delay of an answer of the database that comes late: several polls. */
const LATE_MILLISECONDS = 400;

let database: ClonedDatabase;
let proxy: TcpProxy;
let app: TestApp;
let receiver: WebhookReceiver;
let direct: Client;
let topic: string;
let destinationId: string;

beforeAll(async () => {
  database = await cloneDatabase('started');
  proxy = await TcpProxy.start(database.url);
  direct = await connect();
  receiver = await WebhookReceiver.start();
  const environment = { SVC_DELIVERY_POLL_MILLISECONDS: String(POLL_MILLISECONDS) };
  app = await startTestApp({ databaseUrl: proxy.url, environment });
  expect((await app.put('/fhir/Patient/p', { resourceType: 'Patient', id: 'p' })).status).toBe(201);
});
afterAll(async () => {
  await app.close();
  await receiver.stop();
  await direct.end();
  await proxy.stop();
  await database.drop();
});
beforeEach(async () => {
  topic = await newTopic(app, { resource: 'Basic' });
  destinationId = await newDestination(app, destinationOf(MANY));
});

function destinationOf(maxMessagesInBatch: number): object {
  const parameter = [
    { name: 'endpoint', valueUrl: receiver.url },
    { name: 'maxMessagesInBatch', valueUnsignedInt: maxMessagesInBatch },
  ];
  return destination(topic, { parameter, content: 'empty' });
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  return client;
}

/** The SQL that appends events like a server, of an older version too: the number comes from the column's default. */
const APPEND = `insert into outbox_event (destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
      select destination_key, 1, 1, 'Patient', 'p', 'create', 'PUT' from destination_runtime, generate_series(1, $2::integer)
      where destination_id = $1`;

/** The SQL that undoes the migration of the mark, so the database is as in version 0.1.0. */
const AS_IN_0_1_0 = `
  drop function raise_outbox_mark;
  drop table outbox_mark;
  alter table open_batch drop column low_water_mark;
  alter table destination_runtime drop column low_water_mark, add column floor_event_id bigint not null default 0;
  alter table outbox_event alter column event_id drop default;
  drop function next_event_id;
  drop sequence outbox_event_id;
  alter table outbox_event alter column event_id add generated always as identity`;

const append = (client: Client, count: number): Promise<unknown> => client.query(APPEND, [destinationId, count]);

/** Opens a transaction that has inserted one event. */
async function begin(): Promise<Client> {
  const client = await connect();
  await client.query('begin');
  await append(client, 1);
  return client;
}

const numberOf = async (sql: string, values: unknown[] = []): Promise<number> =>
  Number((await direct.query<{ number: string }>(sql, values)).rows[0]?.number);
const issued = (): Promise<number> => numberOf('select last_value as number from outbox_event_id');
const decided = (): Promise<number> => numberOf('select decided_event_id as number from outbox_mark');
const mark = (): Promise<number> =>
  numberOf('select low_water_mark as number from destination_runtime where destination_id = $1', [destinationId]);

/**
 * Calls the function that raises the mark three times. Two calls would suffice: the first notes a number, and the
 * second raises the mark to it if all transactions up to it have ended.
 */
const raiseOften = async (): Promise<void> => {
  for (let raised = 0; raised < 3; raised++) await direct.query('select raise_outbox_mark()');
};

const setNextAttempt = (at: string): Promise<unknown> =>
  direct.query('update destination_runtime set next_attempt_at = $2 where destination_id = $1', [destinationId, at]);

describe('The low-water mark of a queue', () => {
  it('D1: loses no event if responses of the database are late and transactions commit slowly', async () => {
    let isLate = false;
    proxy.delayStatements(/delivery-(read-living|raise)/, () => (isLate ? LATE_MILLISECONDS : 0));
    let slow = await begin();
    let count = 1;
    for (let round = 0; round < 4; round++) {
      const next = await begin();
      await append(direct, MANY);
      count += MANY + 1;
      await delivered(app, destinationId, count - 2);
      await wait(3 * POLL_MILLISECONDS);
      await slow.query('commit');
      isLate = true; // delays only the next poll
      await wait(POLL_MILLISECONDS);
      isLate = false;
      await delivered(app, destinationId, count - 1);
      await wait(2 * LATE_MILLISECONDS);
      await slow.end();
      slow = next;
    }
    await slow.query('commit');
    await slow.end();
    await delivered(app, destinationId, count);
    expect(await countsOf(app, destinationId)).toMatchObject({ messagesQueued: 0, messagesInProcess: 0 });
  });

  it('D1: waits for an open transaction on an otherwise idle server', async () => {
    // This is the latest transaction. So no later transaction can end and thereby show that this one is still open.
    const slow = await begin();
    const first = await issued();
    for (let round = 0; round < 3; round++) {
      await append(slow, MANY);
      await raiseOften();
    }
    expect(await decided()).toBeLessThan(first);
    await slow.query('commit');
    await slow.end();
    await delivered(app, destinationId, 3 * MANY + 1);
  });

  it('D1: relies on event numbers that only transactions with an id take', async () => {
    await direct.query('begin');
    await direct.query('select next_event_id()');
    const { rows } = await direct.query('select pg_current_xact_id_if_assigned() is not null as has_id');
    await direct.query('rollback');
    expect(rows).toEqual([{ has_id: true }]);
  });

  it('D1: waits for a prepared transaction whose session ended', async () => {
    const slow = await begin();
    await slow.query(`prepare transaction 'slow'`);
    await slow.end();
    try {
      for (let round = 1; round <= 3; round++) {
        await append(direct, MANY);
        await delivered(app, destinationId, round * MANY);
        await raiseOften();
      }
    } finally {
      await direct.query(`commit prepared 'slow'`);
    }
    await delivered(app, destinationId, 3 * MANY + 1);
  });

  it('D1: skips the numbers of a transaction that is rolled back', async () => {
    const slow = await begin();
    const number = await issued();
    await append(direct, MANY);
    await slow.query('rollback');
    await slow.end();
    await append(direct, MANY);
    await delivered(app, destinationId, 2 * MANY);
    await eventually('the mark rises', async () => {
      await append(direct, 200);
      return (await mark()) > number;
    });
  });

  it('D1: stays below the oldest queued event, even if others are delivered', async () => {
    await setNextAttempt('infinity');
    await append(direct, 1);
    const first = await issued();
    for (let round = 0; round < 3; round++) {
      await append(direct, MANY);
      await raiseOften();
    }
    // If a transaction of another spec in the same cluster is older, the mark rises later, and only with new events.
    let count = 3 * MANY + 1;
    await eventually('later numbers are decided', async () => {
      await append(direct, 200);
      count += 200;
      await raiseOften();
      return (await decided()) > first;
    });
    await setNextAttempt('now');
    await delivered(app, destinationId, count);
    expect(await mark()).toBeGreaterThanOrEqual(first);
  });

  it('D1: loses no event if it is raised concurrently, under any planner setting, with writers that roll back', async () => {
    const endsAt = performance.now() + 1500;
    let count = 0;
    const raising = async (setting: string): Promise<void> => {
      const client = await connect();
      await client.query(`set ${setting} = off`);
      while (performance.now() < endsAt) await client.query('select raise_outbox_mark()');
      await client.end();
    };
    const writing = async (pause: number): Promise<void> => {
      const client = await connect();
      while (performance.now() < endsAt) {
        const isKept = Math.random() < 0.7;
        await client.query('begin');
        await append(client, 100);
        await wait(Math.random() * pause);
        await append(client, 100);
        await client.query(isKept ? 'commit' : 'rollback');
        count += isKept ? 200 : 0;
      }
      await client.end();
    };
    await Promise.all([
      ...['enable_seqscan', 'enable_indexscan', 'enable_bitmapscan'].map(raising),
      ...[0, 20, 100, 500, 500, 1000].map(writing),
    ]);
    await delivered(app, destinationId, count);
    expect(await countsOf(app, destinationId)).toMatchObject({ messagesQueued: 0, messagesInProcess: 0 });
  });

  it('D1: cannot be raised by a transaction that has an id already', async () => {
    await direct.query('begin');
    await direct.query('select pg_current_xact_id()');
    await expect(direct.query('select raise_outbox_mark()')).rejects.toThrow('first statement of its transaction');
    await direct.query('rollback');
  });

  it('D1: lets later batches read no more settled batches than the first one, during a long snapshot', async () => {
    const EVENTS = 100;
    const batchesRead = (): Promise<number> =>
      numberOf(`select idx_tup_read as number from pg_stat_user_indexes where indexrelname = 'open_batch_pk'`);
    const reader = await connect();
    await reader.query('begin isolation level repeatable read');
    await reader.query('select from outbox_event limit 1');
    await app.put(`/fhir/SvcTopicDestination/${destinationId}`, { ...destinationOf(1), id: destinationId });
    await direct.query('analyze open_batch, destination_runtime'); // empty, as they usually are
    const before = await batchesRead();
    const arrived = receiver.requests.length;
    await append(direct, EVENTS);
    // The receiver's requests are counted, since $status would read all events.
    await eventually('each event has come', () => receiver.requests.length >= arrived + EVENTS);
    await eventually('statistics are reported', async () => (await batchesRead()) > before);
    await wait(1200); // PostgreSQL reports statistics once a second
    const read = (await batchesRead()) - before;
    await reader.query('rollback');
    await reader.end();
    expect(read / EVENTS).toBeLessThan(15); // without the mark: half of the events
  });

  it('D1: replaces the column that a server of 240c7c3 reads, so its claims fail', async () => {
    await expect(direct.query('select floor_event_id from destination_runtime')).rejects.toThrow('does not exist');
  });

  it('D1: begins at 0 in a migrated database of 240c7c3, and event numbers continue', async () => {
    await setNextAttempt('infinity');
    const before = await issued();
    await direct.query('begin');
    await direct.query(AS_IN_0_1_0);
    await direct.query(`select setval('outbox_event_event_id_seq', $1)`, [before]);
    await append(direct, 1);
    for (const statement of replaceQueueFloors.statements) await direct.query(statement);
    await direct.query('commit');
    expect([await mark(), await decided(), await issued()]).toEqual([0, 0, before + 1]);
    await append(direct, 1);
    await setNextAttempt('now');
    await delivered(app, destinationId, 2);
  });
});
