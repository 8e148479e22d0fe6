import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DeliveryFailure } from '../../../src/delivery/delivery-failure';
import {
  DeliverBy,
  type DeliveryKind,
  type DeliverySettings,
  type DestinationParameter,
  type Outgoing,
} from '../../../src/delivery/delivery-kind';
import { DeliveryQueue } from '../../../src/delivery/delivery-queue';
import { WorkerIdentity } from '../../../src/delivery/worker-identity';
import { ServiceError } from '../../../src/platform/errors/service-error';
import { eventually } from '../../../testing/eventually';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';
import { eventsOf, useDestinationApp } from '../../support/destination-app';
import { newName } from '../../support/destinations';

const inMemory: string[] = [];

/** A kind of delivery, as another team would define it. */
@Injectable()
@DeliverBy({ kind: 'acme-memory', profiles: ['StructureDefinition/acme-memory'] })
class MemoryKind implements DeliveryKind {
  settingsOf(parameters: readonly DestinationParameter[]): DeliverySettings {
    if (parameters.length > 0) throw new ServiceError('unprocessable', 'acme-memory has no parameters.');
    return { timeoutSeconds: 1, maxMessagesInBatch: 1 };
  }

  async send(outgoing: Outgoing): Promise<void> {
    inMemory.push((await outgoing.render()).body.toString());
    if (inMemory.length === 1) throw new DeliveryFailure('Forgotten');
  }
}

@Module({ providers: [MemoryKind] })
class MemoryModule {}

const used = useDestinationApp({ modules: [MemoryModule] });
const { endpoint, newTopic, newDestination, write, status, delivered, received } = used;

describe('A failed delivery attempt', () => {
  it('is repeated with the same bytes and the same id until it succeeds', async () => {
    const destinationId = await newDestination(await newTopic(), [endpoint(), { name: 'keepAlive', valueInteger: -1 }]);
    used.receiver.next({ kind: 'answer', status: 503 }, { kind: 'reset' }, { kind: 'answer', status: 404 });
    await write(newName());
    await write(newName());
    await delivered(destinationId, 2);
    const firsts = used.receiver.requests.slice(0, 4).map(({ body, headers }) => [body, headers['webhook-id']]);
    expect(new Set(firsts.map((pair) => JSON.stringify(pair))).size).toBe(1);
    const first = (used.receiver.bodies[0]?.entry.length ?? 0) - 1;
    expect(await status(destinationId)).toEqual({
      counts: {
        messageBatchesDelivered: used.receiver.requests.length - 3,
        messageBatchesDeliveryAttempts: 3,
        messagesDelivered: 2,
        messagesDeliveryAttempts: 3 * first,
        messagesInProcess: 0,
        messagesQueued: 0,
      },
      errors: ['HTTP 404', 'The connection was closed before an answer came', 'HTTP 503'],
    });
  });

  it.each([301, 302, 307, 308])('is one with status %i: redirects are not followed', async (code) => {
    const target = await WebhookReceiver.start();
    try {
      const destinationId = await newDestination(await newTopic());
      used.receiver.next({ kind: 'answer', status: code, headers: { location: target.url } });
      await write(newName());
      await delivered(destinationId, 1);
      expect([target.requests.length, (await status(destinationId)).errors]).toEqual([0, [`HTTP ${code}`]]);
    } finally {
      await target.stop();
    }
  });

  it.each([200, 201, 202, 204, 299])('is not one with status %i', async (code) => {
    const destinationId = await newDestination(await newTopic());
    used.receiver.next({ kind: 'answer', status: code });
    await write(newName());
    await delivered(destinationId, 1);
    expect((await status(destinationId)).counts.messageBatchesDeliveryAttempts).toBe(0);
  });

  it.each([{ kind: 'hang' }, { kind: 'drip' }] as const)(
    'ends after the timeout when the receiver does $kind',
    async (behavior) => {
      const destinationId = await newDestination(await newTopic(), [
        endpoint(),
        { name: 'timeout', valueUnsignedInt: 1 },
      ]);
      used.receiver.next(behavior);
      const startedAt = performance.now();
      await write(newName());
      const { errors } = await eventually('the attempt has failed', async () => {
        const found = await status(destinationId);
        return found.errors.length > 0 ? found : undefined;
      });
      expect(errors).toEqual(['No answer within 1 s']);
      expect(performance.now() - startedAt).toBeLessThan(30_000); // the receiver would let it wait forever
      await delivered(destinationId, 1);
    },
  );

  it('is not one whose response head arrived in time, even if the body never ends', async () => {
    const destinationId = await newDestination(await newTopic(), [
      endpoint(),
      { name: 'timeout', valueUnsignedInt: 1 },
    ]);
    used.receiver.next({ kind: 'endless' });
    await write(newName());
    await write(newName());
    await delivered(destinationId, 2);
    expect((await status(destinationId)).errors).toEqual([]);
  });

  it('is repeated after the time in Retry-After', async () => {
    const destinationId = await newDestination(await newTopic());
    used.receiver.next({ kind: 'answer', status: 429, headers: { 'retry-after': '2' } });
    await write(newName());
    await delivered(destinationId, 1);
    expect(used.receiver.request(1).at - used.receiver.request(0).at).toBeGreaterThan(1950);
  });

  it('names the refusal if the address is not allowed', async () => {
    const destinationId = await newDestination(await newTopic(), [
      { name: 'endpoint', valueUrl: 'http://[::ffff:a9fe:a9fe]/latest' },
    ]);
    await write(newName());
    await eventually('it failed', async () =>
      (await status(destinationId)).errors[0]?.startsWith('The address of the endpoint is not allowed'),
    );
  });
});

describe('Connections', () => {
  it('are opened to the addresses of the host name', async () => {
    const destinationId = await newDestination(await newTopic(), [
      { name: 'endpoint', valueUrl: `http://localhost:${used.receiver.port}/hook` },
    ]);
    await write(newName());
    await delivered(destinationId, 1);
    expect(used.receiver.request(0).headers.host).toBe(`localhost:${used.receiver.port}`);
  });

  it('are kept alive and reused', async () => {
    const destinationId = await newDestination(await newTopic());
    for (let count = 1; count <= 3; count++) {
      await write(newName());
      await delivered(destinationId, count);
    }
    expect(new Set(used.receiver.requests.map(({ connection }) => connection)).size).toBe(1);
  });

  it('are opened for each request with keepAlive -1', async () => {
    const destinationId = await newDestination(await newTopic(), [endpoint(), { name: 'keepAlive', valueInteger: -1 }]);
    for (let count = 1; count <= 3; count++) {
      await write(newName());
      await delivered(destinationId, count);
    }
    expect(new Set(used.receiver.requests.map(({ connection }) => connection)).size).toBe(3);
  });

  it('that the receiver closed while idle cause no failed attempt, and $events shows the repeat', async () => {
    const destinationId = await newDestination(await newTopic());
    await write(newName());
    await delivered(destinationId, 1);
    used.receiver.next({ kind: 'reset' });
    await write(newName());
    await delivered(destinationId, 2);
    expect([
      used.receiver.requests.length,
      (await status(destinationId)).counts.messageBatchesDeliveryAttempts,
    ]).toEqual([3, 0]);
    const { text } = await used.app.get(`/fhir/SvcTopicDestination/${destinationId}/$events`);
    expect(text.match(/HTTP 200[^"]*/g)).toEqual([
      'HTTP 200, sent twice: the receiver closed a reused connection',
      'HTTP 200',
    ]);
  });
});

describe('A worker without its liveness lock', () => {
  it('claims nothing', async () => {
    const destinationId = await newDestination(await newTopic());
    used.receiver.next({ kind: 'hang' });
    await write(newName());
    await received(1);
    // Ends the lease, so that any worker may claim the destination.
    await used.app.app
      .get(DataSource)
      .query('update destination_runtime set owner_slot = null where destination_id = $1', [destinationId]);
    const queue = used.app.app.get(DeliveryQueue, { strict: false });
    const slots = await used.app.app
      .get(DataSource)
      .query<{ slot: number }[]>(`select nextval('worker_slot')::integer as slot`);
    const [{ slot } = { slot: 0 }] = slots;
    const [{ destinationKey: key } = { destinationKey: 0 }] = await queue.due();
    expect(await queue.claim(slot, key, false)).toBeUndefined();
    const claimOfTheLiving = await queue.claim(
      used.app.app.get(WorkerIdentity, { strict: false }).slot ?? 0,
      key,
      false,
    );
    expect(claimOfTheLiving).toMatchObject({ destinationId });
  });
});

describe('A destination kind of a module', () => {
  it('gets batches, retries and $status', async () => {
    const meta = { profile: ['http://acme.example/StructureDefinition/acme-memory'] };
    const destinationId = await newDestination(await newTopic(), [], { kind: 'acme-memory', meta });
    await write(newName());
    await write(newName());
    await delivered(destinationId, 2);
    expect([inMemory.length, inMemory[0]]).toEqual([3, inMemory[1]]);
    expect((await status(destinationId)).errors).toEqual(['Forgotten']);
  });
});

describe('Two servers on one database', () => {
  let second: TestApp;
  beforeAll(async () => {
    second = await startTestApp({
      databaseUrl: used.app.databaseUrl,
      environment: { SVC_DELIVERY_POLL_MILLISECONDS: '100', SVC_SHUTDOWN_SECONDS: '1' },
    });
  });
  afterAll(() => second.close());

  it('send one batch of a destination at a time, in order, and return the same $status', async () => {
    const destinationId = await newDestination(await newTopic(), [
      endpoint(),
      { name: 'maxMessagesInBatch', valueUnsignedInt: 3 },
    ]);
    used.receiver.always({ kind: 'slow', milliseconds: 10 });
    const id = newName();
    for (let version = 1; version <= 40; version++) {
      await (version % 2 === 0 ? used.app : second).put(`/fhir/Patient/${id}`, {
        resourceType: 'Patient',
        id,
        multipleBirthInteger: version,
      });
    }
    await delivered(destinationId, 40);
    expect(used.receiver.mostAtOnce).toBe(1);
    const numbers = eventsOf(used.receiver.bodies).flatMap((events) => events.map(([number]) => number));
    expect(numbers).toEqual(Array.from({ length: 40 }, (_value, index) => index + 1));
    expect(await status(destinationId, second)).toEqual(await status(destinationId));
  });

  it('use a new topic and destination immediately after the response', async () => {
    const topic = await newTopic();
    const destinationId = await newDestination(topic);
    const answer = await second.post('/fhir/Patient', { resourceType: 'Patient' });
    await delivered(destinationId, 1);
    expect(used.receiver.references).toEqual([`Patient/${answer.json<{ id: string }>().id}`]);
  });

  it('cancel the request of one when the destination is changed on the other', async () => {
    const destinationId = await newDestination(await newTopic());
    used.receiver.next({ kind: 'hang' });
    await second.put(`/fhir/Patient/${newName()}`, { resourceType: 'Patient' });
    await received(1);
    const read = (await used.app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json();
    await used.app.put(`/fhir/SvcTopicDestination/${destinationId}`, { ...read, content: 'id-only' });
    await delivered(destinationId, 1);
    await eventually('the hung attempt is ended', () => used.receiver.open === 0);
  });
});
