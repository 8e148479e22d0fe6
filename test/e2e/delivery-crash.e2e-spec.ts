import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type ClonedDatabase, cloneDatabase } from '../support/clone-database';
import { eventually } from '../support/eventually';
import { ServerProcess } from '../support/server-process';
import { ADMIN_PASSWORD, ROOT, ROOT_SECRET } from '../support/test-app';
import { WebhookReceiver } from '../support/webhook-receiver';

const PROFILE = 'http://profiles.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
const TOPIC = 'http://topics.example/patients';

let database: ClonedDatabase;
let receiver: WebhookReceiver;
let settings: Record<string, string>;
const servers: DeliveringServer[] = [];

beforeEach(async () => {
  database = await cloneDatabase();
  receiver = await WebhookReceiver.start();
  settings = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
    SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SVC_DELIVERY_POLL_MILLISECONDS: '100',
    SVC_SHUTDOWN_SECONDS: '2',
    SVC_DATABASE_POOL_SIZE: '8',
  };
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.kill('SIGKILL')));
  await receiver.stop();
  await database.drop();
});

/** A server that can be killed, with the calls of this spec. */
class DeliveringServer {
  private constructor(private readonly server: ServerProcess) {}

  static async start(): Promise<DeliveringServer> {
    const server = new DeliveringServer(await ServerProcess.start(settings));
    servers.push(server);
    return server;
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.server.end(signal);
  }

  async send(method: string, path: string, body?: object): Promise<Response> {
    return fetch(`${this.server.url}${path}`, {
      method,
      headers: { Authorization: ROOT, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  putPatient(id: string, value: number): Promise<Response> {
    return this.send('PUT', `/fhir/Patient/${id}`, { resourceType: 'Patient', id, multipleBirthInteger: value });
  }

  async makeDestination(): Promise<void> {
    await this.send('PUT', '/fhir/SvcSubscriptionTopic/t', {
      url: TOPIC,
      status: 'active',
      trigger: [{ resource: 'Patient' }],
    });
    const parameter = [
      { name: 'endpoint', valueUrl: receiver.url },
      { name: 'maxMessagesInBatch', valueUnsignedInt: 5 },
    ];
    const answer = await this.send('PUT', '/fhir/SvcTopicDestination/d', {
      meta: { profile: [PROFILE] },
      kind: 'webhook-at-least-once',
      topic: TOPIC,
      parameter,
    });
    expect(answer.status).toBe(201);
  }

  async status(): Promise<{ counts: Record<string, number>; errors: unknown[] }> {
    const answer = await this.send('GET', '/fhir/SvcTopicDestination/d/$status');
    const { parameter } = (await answer.json()) as {
      parameter: { name: string; valueDecimal?: number; part?: { valueString: string }[] }[];
    };
    const counts = parameter.flatMap(({ name, valueDecimal }) =>
      valueDecimal === undefined ? [] : [[name, valueDecimal]],
    );
    return {
      counts: Object.fromEntries(counts) as Record<string, number>,
      errors: parameter.filter(({ name }) => name === 'lastErrorDetail').map(({ part }) => part?.[0]?.valueString),
    };
  }

  async delivered(count: number): Promise<void> {
    await eventually(
      `${count} events are delivered`,
      async () => (await this.status()).counts.messagesDelivered === count,
    );
  }
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const WAITING =
  'select (select count(*)::integer from outbox_event) as events, (select count(*)::integer from open_batch) as batches';
const UNKNOWN = expect.stringContaining('The outcome is unknown');

describe('kill -9 of a server', () => {
  it('during an attempt leaves a batch that its successor sends again, and counts', async () => {
    let server = await DeliveringServer.start();
    await server.makeDestination();
    for (let kills = 1; kills <= 2; kills++) {
      receiver.next({ kind: 'hang' });
      const before = receiver.requests.length;
      await server.putPatient('p', kills);
      await eventually('the attempt has begun', () => receiver.requests.length > before);
      await server.kill('SIGKILL');
      server = await DeliveringServer.start();
      await server.delivered(kills);
      expect(receiver.requests.slice(before).map(({ body, headers }) => [body, headers['webhook-id']])).toEqual(
        Array(2).fill([receiver.requests[before]?.body, receiver.requests[before]?.headers['webhook-id']]),
      );
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
    expect(await query(WAITING)).toEqual([{ events: 0, batches: 0 }]);
  }, 120_000);

  it('is noticed by the other servers long before the lease ends', async () => {
    const first = await DeliveringServer.start();
    await first.makeDestination();
    receiver.next({ kind: 'hang' });
    await first.putPatient('p', 1);
    await eventually('the attempt has begun', () => receiver.requests.length === 1);
    const second = await DeliveringServer.start();
    await first.kill('SIGKILL');
    // The lease is the timeout of 30 s and 15 s more.
    await eventually('the other one sends', () => receiver.requests.length === 2, 10_000);
    await second.delivered(1);
  }, 60_000);

  it('at any moment loses nothing, mixes up nothing, and keeps the numbers truthful', async () => {
    receiver.always({ kind: 'slow', milliseconds: 5 });
    let server = await DeliveringServer.start();
    await server.makeDestination();
    const acknowledged = new Set<string>();
    const kills = 3;
    let isOver = false;
    const writers = Array.from({ length: 4 }, async (_value, writer) => {
      for (let round = 0; !isOver; round++) {
        const id = `p${(writer + round) % 6}`;
        const answer = await server.putPatient(id, writer * 100_000 + round).catch(() => undefined);
        const version = /"(\d+)"/.exec(answer?.headers.get('etag') ?? '')?.[1];
        if (answer?.ok === true && version !== undefined) acknowledged.add(`Patient/${id}/${version}`);
        await answer?.text().catch(() => undefined);
      }
    });
    for (let count = 0; count < kills; count++) {
      const before = receiver.requests.length;
      await eventually('it delivers', () => receiver.requests.length > before + 20 + 7 * count);
      await server.kill('SIGKILL');
      server = await DeliveringServer.start();
    }
    isOver = true;
    await Promise.all(writers);
    await eventually('everything is delivered', async () => {
      const { counts } = await server.status();
      return counts.messagesQueued === 0 && counts.messagesInProcess === 0;
    });
    const written = await query(`select 'Patient/' || id || '/' || version as key from resource where type = 'Patient'
      union select 'Patient/' || id || '/' || version from resource_history where type = 'Patient'`);
    const committed = new Set(written.map(({ key }) => key as string));
    expect([...acknowledged].filter((key) => !committed.has(key))).toEqual([]);
    const seen = firstSeen();
    expect(new Set(seen.map(({ key }) => key))).toEqual(committed);
    expect(seen.map(({ number }) => number)).toEqual(seen.map((_event, index) => index + 1));
    expect(inversions(seen.map(({ key }) => key))).toEqual([]);
    const bodies = new Map(receiver.requests.map(({ headers, body }) => [headers['webhook-id'], body]));
    expect(receiver.requests.filter(({ headers, body }) => bodies.get(headers['webhook-id']) !== body)).toEqual([]);
    const { counts } = await server.status();
    expect(counts).toMatchObject({ messagesDelivered: seen.length, messageBatchesDelivered: bodies.size });
    // Each kill costs at most the one attempt that was under way; what was sent twice is among these.
    const attempts = counts.messageBatchesDeliveryAttempts ?? NaN;
    expect(attempts).toBeLessThanOrEqual(kills);
    expect(receiver.requests.length - bodies.size).toBeLessThanOrEqual(attempts);
    expect(receiver.mostAtOnce).toBe(1);
    expect(await query(WAITING)).toEqual([{ events: 0, batches: 0 }]);
  }, 120_000);
});

describe('The connection that proves a worker alive', () => {
  it('can break: the attempt is given up, and the batch is sent again by the same server', async () => {
    const server = await DeliveringServer.start();
    await server.makeDestination();
    receiver.next({ kind: 'hang' });
    await server.putPatient('p', 1);
    await eventually('the attempt has begun', () => receiver.requests.length === 1);
    await query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'svc-health-server delivery' and datname = current_database()`);
    await server.delivered(1);
    expect((await server.status()).counts).toMatchObject({
      messageBatchesDelivered: 1,
      messageBatchesDeliveryAttempts: 1,
    });
  }, 60_000);
});

describe('SIGTERM', () => {
  it('lets an attempt end, so that nothing is sent twice', async () => {
    const server = await DeliveringServer.start();
    await server.makeDestination();
    receiver.next({ kind: 'slow', milliseconds: 700 });
    await server.putPatient('p', 1);
    await eventually('the attempt has begun', () => receiver.requests.length === 1);
    await server.kill('SIGTERM');
    const next = await DeliveringServer.start();
    expect((await next.status()).counts).toMatchObject({
      messagesDelivered: 1,
      messageBatchesDeliveryAttempts: 0,
      messagesInProcess: 0,
    });
    expect(receiver.requests.length).toBe(1);
  }, 60_000);

  it('gives a hung attempt up after SVC_SHUTDOWN_SECONDS, and counts it', async () => {
    const server = await DeliveringServer.start();
    await server.makeDestination();
    receiver.next({ kind: 'hang' });
    await server.putPatient('p', 1);
    await eventually('the attempt has begun', () => receiver.requests.length === 1);
    await server.kill('SIGTERM');
    const next = await DeliveringServer.start();
    await next.delivered(1);
    expect(await next.status()).toMatchObject({
      counts: { messageBatchesDelivered: 1, messageBatchesDeliveryAttempts: 1 },
      errors: ['The server was stopped before an answer came'],
    });
  }, 60_000);
});

/** Each event when it came for the first time: its number, and its resource with the version. */
function firstSeen(): { number: number; key: string }[] {
  const seen = new Map<number, string>();
  for (const { entry } of receiver.bodies) {
    const [first, ...rest] = entry;
    first.resource.notificationEvent.forEach(({ eventNumber, focus }, index) => {
      const { resource } = rest[index] as { resource: { meta: { versionId: string } } };
      const key = `${focus.reference}/${resource.meta.versionId}`;
      if (!seen.has(eventNumber)) seen.set(eventNumber, key);
    });
  }
  return [...seen].map(([number, key]) => ({ number, key }));
}

/** Versions that came before an earlier one of the same resource. */
function inversions(keys: readonly string[]): string[] {
  const latest = new Map<string, number>();
  return keys.filter((key) => {
    const [, id = '', version] = key.split('/');
    const isInverted = Number(version) < (latest.get(id) ?? 0);
    latest.set(id, Number(version));
    return isInverted;
  });
}
