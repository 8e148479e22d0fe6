import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DeliveryBed, type DeliveringServer } from '../support/delivery-bed';
import { arrivalsAt } from '../support/arrivals';
import { eventually } from '../../testing/eventually';
import { SteadyWriters } from '../support/steady-writers';
import { type WebhookReceiver } from '../../testing/webhook-receiver';

let bed: DeliveryBed;
let receiver: WebhookReceiver;
/** A server that the previous test left running, or a new one. */
let server: DeliveringServer;

beforeAll(async () => {
  bed = await DeliveryBed.open({ SVC_SHUTDOWN_SECONDS: '1' });
});
beforeEach(async () => {
  server = await bed.onlyServer();
  await bed.renew(server);
  ({ receiver } = bed);
  await server.makeDestination();
});
afterAll(() => bed.close());

const WAITING =
  'select (select count(*)::integer from outbox_event) as events, (select count(*)::integer from open_batch) as batches';
const UNKNOWN = expect.stringContaining('The outcome is unknown');

describe('kill -9 of a server', () => {
  it('during an attempt: the next server sends the batch again, and counts the attempt', async () => {
    for (let kills = 1; kills <= 2; kills++) {
      receiver.next({ kind: 'hang' });
      const before = receiver.requests.length;
      await server.putPatient('p', undefined, { 'x-topic-correlation-id': `order ${kills}` });
      await eventually('the attempt has begun', () => receiver.requests.length > before);
      await server.kill('SIGKILL');
      server = await bed.start();
      await server.delivered(kills);
      expect(receiver.requests.slice(before).map(({ body, headers }) => [body, headers['webhook-id']])).toEqual(
        Array(2).fill([receiver.requests[before]?.body, receiver.requests[before]?.headers['webhook-id']]),
      );
      expect(receiver.requests[before]?.body).toContain(`"correlationId":"order ${kills}"`);
    }
    expect(await server.status()).toEqual({
      counts: {
        messageBatchesDelivered: 2,
        messageBatchesDeliveryAttempts: 2,
        messagesDelivered: 2,
        messagesDeliveryAttempts: 2,
        messagesInProcess: 0,
        messagesQueued: 0,
      },
      errors: [UNKNOWN, UNKNOWN],
    });
    expect(await bed.query(WAITING)).toEqual([{ events: 0, batches: 0 }]);
  });

  it('during an attempt: other servers send the batch again long before the lease ends', async () => {
    receiver.next({ kind: 'hang' });
    await server.putPatient('p');
    await eventually('the attempt has begun', () => receiver.requests.length === 1);
    const second = await bed.start();
    await server.kill('SIGKILL');
    // The lease lasts 45 s: the timeout of 30 s, and 15 s more. The other server must take over faster.
    await eventually('the other one sends', () => receiver.requests.length === 2, 30_000);
    await second.delivered(1);
  });

  it('at any time: no event is lost or reordered, and the counts stay right', async () => {
    receiver.always({ kind: 'slow', milliseconds: 5 });
    const kills = 2;
    const writers = new SteadyWriters(() => server);
    for (let count = 0; count < kills; count++) {
      const before = receiver.requests.length;
      await eventually('it delivers', () => receiver.requests.length > before + 20 + 7 * count);
      await server.kill('SIGKILL');
      server = await bed.start();
    }
    await writers.stop();
    await eventually('everything is delivered', async () => {
      const { counts } = await server.status();
      return counts.messagesQueued === 0 && counts.messagesInProcess === 0;
    });
    const committed = await bed.committed();
    expect([...writers.acknowledged].filter((key) => !committed.has(key))).toEqual([]);
    const { keys, faults, batches, repeated } = arrivalsAt(receiver);
    expect(new Set(keys)).toEqual(committed);
    expect(faults).toEqual([]);
    const { counts } = await server.status();
    expect(counts).toMatchObject({ messagesDelivered: keys.length, messageBatchesDelivered: batches });
    // Each kill wastes at most one attempt, the one in flight. Batches that came twice are among these attempts.
    const attempts = counts.messageBatchesDeliveryAttempts ?? NaN;
    expect(attempts).toBeLessThanOrEqual(kills);
    expect(repeated).toBeLessThanOrEqual(attempts);
    expect(receiver.mostAtOnce).toBe(1);
    expect(await bed.query(WAITING)).toEqual([{ events: 0, batches: 0 }]);
  });
});

describe('The liveness connection of a worker', () => {
  it('aborts the attempt when it breaks, and the same server sends the batch again', async () => {
    receiver.next({ kind: 'hang' });
    await server.putPatient('p');
    await eventually('the attempt has begun', () => receiver.requests.length === 1);
    await bed.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'svc-health-server delivery' and datname = current_database()`);
    await server.delivered(1);
    expect((await server.status()).counts).toMatchObject({
      messageBatchesDelivered: 1,
      messageBatchesDeliveryAttempts: 1,
    });
  });
});

describe('SIGTERM', () => {
  it('waits for a running attempt, so that nothing is sent twice', async () => {
    receiver.next({ kind: 'slow', milliseconds: 700 });
    await server.putPatient('p');
    await eventually('the attempt has begun', () => receiver.requests.length === 1);
    await server.kill('SIGTERM');
    const next = await bed.start();
    expect((await next.status()).counts).toMatchObject({
      messagesDelivered: 1,
      messageBatchesDeliveryAttempts: 0,
      messagesInProcess: 0,
    });
    expect(receiver.requests.length).toBe(1);
  });

  it('aborts a hanging attempt after SVC_SHUTDOWN_SECONDS, and counts it', async () => {
    receiver.next({ kind: 'hang' });
    await server.putPatient('p');
    await eventually('the attempt has begun', () => receiver.requests.length === 1);
    await server.kill('SIGTERM');
    const next = await bed.start();
    await next.delivered(1);
    expect(await next.status()).toMatchObject({
      counts: { messageBatchesDelivered: 1, messageBatchesDeliveryAttempts: 1 },
      errors: ['The server was stopped before an answer came'],
    });
  });
});
