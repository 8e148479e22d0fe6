import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
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
import { type Received, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';
import { type NotificationBody, WebhookReceiver } from '../../../testing/webhook-receiver';

const PROFILE = 'http://profiles.example/StructureDefinition/svctopicdestination-webhook-at-least-once';

interface Parameter {
  readonly name: string;
  readonly valueDecimal?: number;
  readonly part?: readonly { readonly name: string; readonly valueString?: string }[];
}

const inMemory: string[] = [];

/** A way to deliver as another team would bring it. */
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

let app: TestApp;
let receiver: WebhookReceiver;
let names = 0;

/** The database of this file is shared by its specs, so each uses topics and ids of its own. */
const newName = (): string => `n${++names}`;

beforeAll(async () => {
  // Nothing here may depend on polling: commits and the ends of pauses wake the worker.
  app = await startTestApp({
    environment: { SVC_DELIVERY_POLL_MILLISECONDS: '60000', SVC_SHUTDOWN_SECONDS: '1' },
    modules: [MemoryModule],
  });
});
afterAll(() => app.close());
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  // A destination whose receiver is gone would be retried through all other specs.
  const all = (await app.get('/fhir/SvcTopicDestination?_count=1000')).json<{
    entry?: { resource: { id: string } }[];
  }>();
  for (const { resource } of all.entry ?? []) await app.delete(`/fhir/SvcTopicDestination/${resource.id}`);
  await receiver.stop();
});

const endpoint = (): object => ({ name: 'endpoint', valueUrl: receiver.url });

function destination(topic: string, parameter: readonly object[] = [endpoint()], more: object = {}): object {
  return {
    resourceType: 'SvcTopicDestination',
    meta: { profile: [PROFILE] },
    kind: 'webhook-at-least-once',
    topic,
    ...(parameter.length === 0 ? {} : { parameter }),
    ...more,
  };
}

async function newTopic(trigger: object = { resource: 'Patient' }, more: object = {}): Promise<string> {
  const url = `http://topics.example/${newName()}`;
  const answer = await app.post('/fhir/SvcSubscriptionTopic', {
    resourceType: 'SvcSubscriptionTopic',
    url,
    status: 'active',
    trigger: [trigger],
    ...more,
  });
  expect(answer.status).toBe(201);
  return url;
}

async function newDestination(topic: string, parameter?: readonly object[], more?: object): Promise<string> {
  const answer = await app.post('/fhir/SvcTopicDestination', destination(topic, parameter, more));
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 201, text: expect.any(String) });
  return answer.json<{ id: string }>().id;
}

async function write(id: string, members: object = {}): Promise<Received> {
  const answer = await app.put(`/fhir/Patient/${id}`, { resourceType: 'Patient', id, ...members });
  expect([200, 201]).toContain(answer.status);
  return answer;
}

async function status(
  id: string,
  on: TestApp = app,
): Promise<{ counts: Record<string, number>; errors: (string | undefined)[] }> {
  const { parameter } = (await on.get(`/fhir/SvcTopicDestination/${id}/$status`)).json<{ parameter: Parameter[] }>();
  const counts = parameter.flatMap(({ name, valueDecimal }) =>
    valueDecimal === undefined ? [] : [[name, valueDecimal]],
  );
  const errors = parameter.filter(({ name }) => name === 'lastErrorDetail').map(({ part }) => part?.[0]?.valueString);
  return { counts: Object.fromEntries(counts) as Record<string, number>, errors };
}

const delivered = (id: string, count: number): Promise<unknown> =>
  eventually(`${count} events are delivered`, async () => (await status(id)).counts.messagesDelivered === count);

const received = (count: number): Promise<unknown> =>
  eventually(`${count} requests came`, () => receiver.requests.length >= count);

/** Numbers and references of the events of each request. */
const eventsOf = (bodies: readonly NotificationBody[]): [number, string][][] =>
  bodies.map(({ entry: [first] }) =>
    first.resource.notificationEvent.map(({ eventNumber, focus }) => [eventNumber, focus.reference]),
  );

describe('SvcTopicDestination (webhook kind)', () => {
  it('answers 201 with the stored resource', async () => {
    const body = destination('http://topics.example/none');
    const answer = await app.post('/fhir/SvcTopicDestination', body, { headers: { accept: 'application/json' } });
    const { id, meta, ...rest } = answer.json<{ id: string; meta: object }>();
    const { meta: _sent, ...sent } = body as { meta: object };
    expect({ status: answer.status, meta, rest, location: answer.headers.get('location') }).toEqual({
      status: 201,
      meta: {
        versionId: '1',
        lastUpdated: expect.any(String),
        extension: [{ url: 'urn:svc:created-at', valueInstant: (meta as { lastUpdated?: string }).lastUpdated }],
        profile: [PROFILE],
      },
      rest: sent,
      location: expect.stringContaining(`/SvcTopicDestination/${id}/_history/1`),
    });
  });

  it('is stored under the id of its body', async () => {
    const id = newName();
    expect(
      (await app.post('/fhir/SvcTopicDestination', { ...destination('http://t.example'), id })).json(),
    ).toMatchObject({ id });
    expect((await app.get(`/fhir/SvcTopicDestination/${id}/$status`)).status).toBe(200);
  });

  it.each(['topic=http://topics.example/found', 'kind=webhook-at-least-once'])('is found by %s', async (query) => {
    const id = await newDestination('http://topics.example/found');
    const found = (await app.get(`/fhir/SvcTopicDestination?${query}`)).json<{
      entry: { resource: { id: string } }[];
    }>();
    expect(found.entry.map(({ resource }) => resource.id)).toContain(id);
  });

  it.each([
    'http://p.example/StructureDefinition/svctopicdestination-webhook-at-least-once|1.0',
    'http://p.example/StructureDefinition/svctopicdestination-webhookAtLeastOnceProfile',
  ])('accepts the profile %s', async (profile) => {
    await newDestination('http://t.example', [endpoint()], { meta: { profile: ['http://other.example', profile] } });
  });

  const secret = 'geheim';
  const header = (valueString: unknown): object => ({ name: 'header', valueString });
  it.each<[string, () => object, string]>([
    ['no profile', () => destination('http://t', [endpoint()], { meta: {} }), 'meta.profile'],
    [
      'a foreign profile',
      () => destination('http://t', [endpoint()], { meta: { profile: ['http://x/StructureDefinition/other'] } }),
      'meta.profile',
    ],
    ['an unknown kind', () => destination('http://t', [endpoint()], { kind: 'kafka-at-least-once' }), 'kind'],
    ['no topic', () => destination('', [endpoint()]), 'topic'],
    ['an unknown content', () => destination('http://t', [endpoint()], { content: 'some' }), 'content'],
    [
      'a flag that is no boolean',
      () => destination('http://t', [endpoint()], { includeVersionId: 'yes' }),
      'includeVersionId',
    ],
    ['no endpoint', () => destination('http://t', []), 'endpoint is required'],
    ['two endpoints', () => destination('http://t', [endpoint(), endpoint()]), 'endpoint may appear only once'],
    [
      'an endpoint in another value field',
      () => destination('http://t', [{ name: 'endpoint', valueString: receiver.url }]),
      'valueUrl',
    ],
    ['two value fields', () => destination('http://t', [{ ...endpoint(), valueString: 'x' }]), 'nothing else'],
    [
      'an endpoint that is no URL',
      () => destination('http://t', [{ name: 'endpoint', valueUrl: 'nowhere' }]),
      'http or https',
    ],
    [
      'an endpoint of another scheme',
      () => destination('http://t', [{ name: 'endpoint', valueUrl: 'ftp://x/' }]),
      'http or https',
    ],
    [
      'credentials in the URL',
      () => destination('http://t', [{ name: 'endpoint', valueUrl: `http://u:${secret}@x/` }]),
      'user or password',
    ],
    [
      'an unknown parameter',
      () => destination('http://t', [endpoint(), { name: 'retries', valueInteger: 3 }]),
      'is no parameter',
    ],
    [
      'a timeout of 0',
      () => destination('http://t', [endpoint(), { name: 'timeout', valueUnsignedInt: 0 }]),
      'timeout must be',
    ],
    [
      'a timeout in another value field',
      () => destination('http://t', [endpoint(), { name: 'timeout', valueInteger: 3 }]),
      'valueUnsignedInt',
    ],
    [
      'a fraction',
      () => destination('http://t', [endpoint(), { name: 'maxMessagesInBatch', valueUnsignedInt: 1.5 }]),
      'maxMessagesInBatch must be',
    ],
    [
      'an empty batch',
      () => destination('http://t', [endpoint(), { name: 'maxMessagesInBatch', valueUnsignedInt: 0 }]),
      'maxMessagesInBatch must be',
    ],
    [
      'C13.5: a batch of more than 10,000',
      () => destination('http://t', [endpoint(), { name: 'maxMessagesInBatch', valueUnsignedInt: 10_001 }]),
      'maxMessagesInBatch must be a whole number from 1 to 10000',
    ],
    [
      'a keepAlive below -1',
      () => destination('http://t', [endpoint(), { name: 'keepAlive', valueInteger: -2 }]),
      'keepAlive must be',
    ],
    [
      'a header without a colon',
      () => destination('http://t', [endpoint(), header(`Authorization ${secret}`)]),
      'no colon',
    ],
    [
      'a header with a line break',
      () => destination('http://t', [endpoint(), header(`X-A: ${secret}\r\nHost: x`)]),
      'visible ASCII',
    ],
    ['a header of the connection', () => destination('http://t', [endpoint(), header('Host: x')]), 'names Host'],
    ['a header that is no string', () => destination('http://t', [endpoint(), header(3)]), 'header must be a string'],
    [
      '65 headers',
      () => destination('http://t', [endpoint(), ...Array.from({ length: 65 }, () => header('X-A: 1'))]),
      'at most 64',
    ],
    [
      'headers of more than 8 kB',
      () => destination('http://t', [endpoint(), header(`X-A: ${'x'.repeat(8200)}`)]),
      '8192 bytes',
    ],
    [
      'a mask without a stored value',
      () => destination('http://t', [endpoint(), header('Authorization: ***')]),
      'Send the value',
    ],
    ['parameters that are no array', () => destination('http://t', undefined, { parameter: {} }), 'must be an array'],
  ])('refuses %s with 422', async (_what, body, message) => {
    const answer = await app.post('/fhir/SvcTopicDestination', body());
    expect({ status: answer.status, text: answer.text }).toEqual({
      status: 422,
      text: expect.stringContaining(message),
    });
    expect(answer.text).not.toContain(secret);
  });
});

/** Credentials of a Client with one policy. */
async function mayOnly(matcho: object): Promise<string> {
  const [client, secret] = [newName(), 'a-secret-of-this-spec'];
  await app.put(`/Client/${client}`, { secret, grant_types: ['basic'] });
  await app.post('/AccessPolicy', { engine: 'matcho', matcho, link: [{ resourceType: 'Client', id: client }] });
  return basicHeader(client, secret);
}

describe('Headers of a destination', () => {
  it('are sent, and masked wherever the destination is not read by itself', async () => {
    const topic = await newTopic();
    const lines = [
      'Authorization: Basic a:geheim',
      'X-Many: geheim1',
      'X-Many: geheim2',
      'content-type: application/fhir+json',
    ];
    const id = await newDestination(topic, [
      endpoint(),
      ...lines.map((valueString) => ({ name: 'header', valueString })),
    ]);
    await write(newName());
    await received(1);
    const { rawHeaders, headers } = receiver.request(0);
    const many = rawHeaders.filter((_value, index) => rawHeaders[index - 1]?.toLowerCase() === 'x-many');
    expect([headers.authorization, many, headers['content-type']]).toEqual([
      'Basic a:geheim',
      ['geheim1', 'geheim2'],
      'application/fhir+json',
    ]);
    const reads = [
      `/fhir/SvcTopicDestination/${id}/_history/1`,
      `/fhir/SvcTopicDestination/${id}/_history`,
      '/fhir/SvcTopicDestination',
      `/fhir/SvcTopicDestination/${id}/$status`,
    ];
    const texts = await Promise.all(reads.map(async (path) => (await app.get(path)).text));
    expect(texts.join()).not.toContain('geheim');
    expect(texts[0]).toContain('"Authorization: ***"');
  });

  it('are shown to who may update it, and nobody else', async () => {
    const lines = ['X-Key: geheim: 1', 'Accept: text/plain', 'x-key:geheim 2'];
    const parameter = [
      endpoint(),
      { name: 'timeout', valueUnsignedInt: 30 },
      ...lines.map((valueString) => ({ name: 'header', valueString })),
      { name: 'secret', valueString: Buffer.alloc(32, 3).toString('base64') },
    ];
    const shownIn = ({ text }: Received): unknown[] =>
      (JSON.parse(text) as { parameter: { name: string; valueString?: string }[] }).parameter
        .filter(({ name }) => name === 'header' || name === 'secret')
        .map(({ valueString }) => valueString);
    const shown = ['X-Key: geheim: 1', 'Accept: text/plain', 'x-key: geheim 2', '***'];
    const masked = ['X-Key: ***', 'Accept: ***', 'x-key: ***', '***'];
    const path = `/fhir/SvcTopicDestination/${newName()}`;
    const stored = await app.put(path, destination('http://t.example', parameter));
    expect(shownIn(stored)).toEqual(shown);
    const read = await app.get(path);
    expect([shownIn(read), read.headers.get('etag')]).toEqual([shown, 'W/"1"']);
    expect((await app.put(path, read.text)).headers.get('etag')).toBe('W/"1"');
    const patch = [{ op: 'add', path: '/content', value: 'empty' }];
    const headers = { 'Content-Type': 'application/json-patch+json' };
    expect(shownIn(await app.send('PATCH', path, { body: patch, headers }))).toEqual(shown);
    expect([shownIn(await app.get(`${path}/_history/2`)), shownIn(await app.get(`${path}/_history/1`))]).toEqual([
      masked,
      masked,
    ]);
    const reader = { authorization: await mayOnly({ uri: '#/SvcTopicDestination', 'request-method': 'get' }) };
    const denials = async (): Promise<unknown> => (await app.get('/fhir/AuditEvent?_summary=count')).json().total;
    const before = await denials();
    expect(shownIn(await app.get(path, reader))).toEqual(masked);
    expect(await denials()).toBe(before);
    expect((await app.put(path, read.text, reader)).status).toBe(403);
  });

  it('are those of the version that they are shown with, also while it is changed', async () => {
    const path = `/fhir/SvcTopicDestination/${newName()}`;
    const put = (version: number): Promise<Received> =>
      app.put(
        path,
        destination('http://t.example', [endpoint(), { name: 'header', valueString: `X-Key: v${version}` }]),
      );
    await put(1);
    const seen: string[] = [];
    let isChanging = true;
    const read = async (): Promise<void> => {
      while (isChanging) {
        const { headers, text } = await app.get(path);
        seen.push(`W/"${/X-Key: v(\d+)/.exec(text)?.[1] ?? 'masked'}" ${headers.get('etag') ?? ''}`);
      }
    };
    const reading = Promise.all([read(), read()]);
    for (let version = 2; version <= 10; version++) await put(version);
    isChanging = false;
    await reading;
    expect(seen.filter((pair) => !pair.startsWith('W/"masked"') && new Set(pair.split(' ')).size > 1)).toEqual([]);
    expect(new Set(seen).size).toBeGreaterThan(1);
  });

  it('stay as they are when their masked form is sent back', async () => {
    const topic = await newTopic();
    const id = await newDestination(topic, [endpoint(), { name: 'header', valueString: 'X-Key: geheim' }]);
    const read = (await app.get(`/fhir/SvcTopicDestination/${id}/_history/1`)).json();
    expect(JSON.stringify(read)).toContain('X-Key: ***');
    expect((await app.put(`/fhir/SvcTopicDestination/${id}`, { ...read, content: 'id-only' })).status).toBe(200);
    await write(newName());
    await received(1);
    expect(receiver.requests[0]?.headers['x-key']).toBe('geheim');
  });

  it('make a new version when only a secret changed', async () => {
    const id = newName();
    const put = (valueString: string): Promise<Received> =>
      app.put(`/fhir/SvcTopicDestination/${id}`, {
        ...destination('http://t.example', [endpoint(), { name: 'header', valueString }]),
        id,
      });
    const versions = [
      await put('X-Key: one'),
      await put('X-Key: one'),
      await put('X-Key: ***'),
      await put('X-Key: two'),
    ];
    expect(versions.map((answer) => answer.json<{ meta: { versionId: string } }>().meta.versionId)).toEqual([
      '1',
      '1',
      '1',
      '2',
    ]);
  });
});

describe('SvcSubscriptionTopic', () => {
  const filter = (more: object = {}): object => ({
    filterParameter: 'gender',
    comparator: ['eq'],
    filterDefinitionFhirPathExpression: 'Patient.gender',
    ...more,
  });

  it('keeps what subscribers may filter by', async () => {
    await newTopic({ resource: 'Patient', canFilterBy: [filter()] });
  });

  it.each<[string, object, string]>([
    ['no url', { url: undefined }, 'url must be'],
    ['an unknown status', { status: 'on' }, 'status must be'],
    ['a trigger that is no object', { trigger: ['Patient'] }, 'trigger[0] must be'],
    ['a trigger without resource', { trigger: [{}] }, 'trigger[0].resource'],
    ['a trigger of an unknown type', { trigger: [{ resource: 'Unicorn' }] }, 'Unicorn'],
    [
      'an unknown interaction',
      { trigger: [{ resource: 'Patient', supportedInteraction: ['read'] }] },
      'supportedInteraction',
    ],
    [
      'a filter by another comparator',
      { trigger: [{ resource: 'Patient', canFilterBy: [filter({ comparator: ['eq', 'gt'] })] }] },
      'canFilterBy[0].comparator must hold eq',
    ],
    [
      'a filter of an element that there is not',
      { trigger: [{ resource: 'Patient', canFilterBy: [filter({ filterDefinitionFhirPathExpression: 'gendr' })] }] },
      'canFilterBy[0].filterDefinitionFhirPathExpression is no FHIRPath',
    ],
    [
      'a criterion that does not compile',
      { trigger: [{ resource: 'Patient', fhirPathCriteria: 'name.where(' }] },
      'fhirPathCriteria',
    ],
  ])('is refused with 422 for %s', async (_what, members, message) => {
    const body = {
      resourceType: 'SvcSubscriptionTopic',
      url: 'http://t.example',
      status: 'active',
      trigger: [{ resource: 'Patient' }],
    };
    const answer = await app.post('/fhir/SvcSubscriptionTopic', { ...body, ...members });
    expect({ status: answer.status, text: answer.text }).toEqual({
      status: 422,
      text: expect.stringContaining(message),
    });
  });

  it('fires for the interactions that it names', async () => {
    const topic = await newTopic({
      resource: 'http://hl7.org/fhir/StructureDefinition/Patient',
      supportedInteraction: ['update'],
    });
    const destinationId = await newDestination(topic);
    const id = newName();
    await write(id);
    await write(id, { active: true });
    await app.delete(`/fhir/Patient/${id}`);
    await delivered(destinationId, 1);
    expect(receiver.bodies[0]?.entry[1]).toMatchObject({ request: { method: 'PUT' }, resource: { active: true } });
  });

  it('fires when its criterion is true for the versions before and after', async () => {
    const criteria = "%previous.gender = 'male' and %current.gender = 'female'";
    const destinationId = await newDestination(await newTopic({ resource: 'Patient', fhirPathCriteria: criteria }));
    const [a, b] = [newName(), newName()];
    await write(a, { gender: 'male' });
    await write(a, { gender: 'female' });
    await write(b, { gender: 'female' });
    await write(b, { gender: 'male' });
    await delivered(destinationId, 1);
    expect(receiver.references).toEqual([`Patient/${a}`]);
  });

  it('loses no event of a criterion that cannot be evaluated', async () => {
    const destinationId = await newDestination(
      await newTopic({ resource: 'Patient', fhirPathCriteria: 'name.single().exists()' }),
    );
    await write(newName(), { name: [{ family: 'a' }, { family: 'b' }] });
    await delivered(destinationId, 1);
  });

  it('does not fire while it is a draft, and fires as soon as it is active', async () => {
    const id = newName();
    const topic = {
      resourceType: 'SvcSubscriptionTopic',
      id,
      url: `http://topics.example/${id}`,
      trigger: [{ resource: 'Patient' }],
    };
    await app.put(`/fhir/SvcSubscriptionTopic/${id}`, { ...topic, status: 'draft' });
    const destinationId = await newDestination(topic.url);
    await write(newName());
    await app.put(`/fhir/SvcSubscriptionTopic/${id}`, { ...topic, status: 'active' });
    const patient = newName();
    await write(patient);
    await delivered(destinationId, 1);
    expect(receiver.references).toEqual([`Patient/${patient}`]);
  });

  it('may come after its destination', async () => {
    const destinationId = await newDestination(`http://topics.example/n${names + 1}`);
    await newTopic();
    await write(newName());
    await delivered(destinationId, 1);
  });
});

describe('A notification', () => {
  it('is a POST of a history bundle with a status and the versions of the events', async () => {
    const destinationId = await newDestination(await newTopic());
    const id = newName();
    receiver.next({ kind: 'held' });
    const created = await app.post('/fhir/Patient', { resourceType: 'Patient', active: true, multipleBirthInteger: 1 });
    const createdId = created.json<{ id: string }>().id;
    await received(1);
    const put = await write(id, { extension: [{ url: 'http://x', valueDecimal: 1 }] });
    await app.delete(`/fhir/Patient/${id}`);
    receiver.release();
    await delivered(destinationId, 3);
    const [first, second] = [receiver.request(0), receiver.request(1)];
    expect([first.method, first.path, first.headers['content-type'], first.headers['webhook-id']]).toEqual([
      'POST',
      '/hook',
      'application/json',
      expect.stringMatching(/^[0-9a-f]{32}$/),
    ]);
    const topic = (await app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json().topic;
    const statusOf = (events: readonly [number, string][]): object => ({
      resource: {
        resourceType: 'SvcSubscriptionStatus',
        extension: [
          {
            url: 'http://profiles.example/StructureDefinition/delivery-generation',
            valueUuid: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
          },
        ],
        status: 'active',
        type: 'event-notification',
        notificationEvent: events.map(([eventNumber, reference]) => ({ eventNumber, focus: { reference } })),
        topic,
        'topic-destination': { reference: `SvcTopicDestination/${destinationId}` },
      },
    });
    const bundle = (entry: readonly object[]): object => ({
      resourceType: 'Bundle',
      type: 'history',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      entry,
    });
    expect([JSON.parse(first.body), JSON.parse(second.body)]).toEqual([
      bundle([
        statusOf([[1, `Patient/${createdId}`]]),
        {
          fullUrl: `http://svc.example/fhir/Patient/${createdId}`,
          request: { method: 'POST', url: '/fhir/Patient' },
          resource: created.json(),
        },
      ]),
      bundle([
        statusOf([
          [2, `Patient/${id}`],
          [3, `Patient/${id}`],
        ]),
        {
          fullUrl: `http://svc.example/fhir/Patient/${id}`,
          request: { method: 'PUT', url: `/fhir/Patient/${id}` },
          resource: put.json(),
        },
        { fullUrl: `http://svc.example/fhir/Patient/${id}`, request: { method: 'DELETE', url: `/fhir/Patient/${id}` } },
      ]),
    ]);
  });

  it('keeps the digits of numbers', async () => {
    await newDestination(await newTopic());
    const id = newName();
    await app.put(
      `/fhir/Patient/${id}`,
      `{"resourceType":"Patient","id":"${id}","extension":[{"url":"http://x","valueDecimal":1.100}]}`,
    );
    await received(1);
    expect(receiver.requests[0]?.body).toContain('"valueDecimal":1.100');
  });

  it('leaves the resource out with content id-only, and the entries with content empty', async () => {
    const topic = await newTopic();
    await newDestination(topic, [{ name: 'endpoint', valueUrl: `${receiver.url}/id-only` }], { content: 'id-only' });
    await newDestination(topic, [{ name: 'endpoint', valueUrl: `${receiver.url}/empty` }], { content: 'empty' });
    const id = newName();
    await write(id);
    await received(2);
    const entries = Object.fromEntries(
      receiver.requests.map(({ path, body }) => [path, (JSON.parse(body) as NotificationBody).entry.slice(1)]),
    );
    expect(entries).toEqual({
      '/hook/id-only': [
        { fullUrl: `http://svc.example/fhir/Patient/${id}`, request: { method: 'PUT', url: `/fhir/Patient/${id}` } },
      ],
      '/hook/empty': [],
    });
    expect(receiver.references).toEqual([`Patient/${id}`, `Patient/${id}`]);
  });

  it('names action and version where the destination asks for them', async () => {
    const flags = {
      includeEntryAction: true,
      includeVersionId: true,
      includeVersionIdInFocusReference: true,
      content: 'id-only',
    };
    await newDestination(await newTopic(), [endpoint()], flags);
    const id = newName();
    await write(id);
    await received(1);
    expect([receiver.references, receiver.bodies[0]?.entry[1]]).toMatchObject([
      [`Patient/${id}/_history/1`],
      {
        extension: [
          { url: 'http://profiles.example/StructureDefinition/bundle-entryActionCode', valueCode: 'create' },
          { url: 'http://profiles.example/StructureDefinition/bundle-entryVersionId', valueId: '1' },
        ],
      },
    ]);
  });
});

describe('Events', () => {
  it('are not made by identical and refused writes', async () => {
    const destinationId = await newDestination(await newTopic());
    const id = newName();
    await write(id, { active: true });
    await write(id, { active: true });
    await app.put(
      `/fhir/Patient/${id}`,
      { resourceType: 'Patient', id, active: false },
      { headers: { 'If-Match': 'W/"7"' } },
    );
    await app.delete(`/fhir/Patient/${newName()}`);
    const last = newName();
    await write(last);
    await delivered(destinationId, 2);
    expect(receiver.references).toEqual([`Patient/${id}`, `Patient/${last}`]);
  });

  it('come in batches of at most maxMessagesInBatch, the oldest first', async () => {
    const destinationId = await newDestination(await newTopic(), [
      endpoint(),
      { name: 'maxMessagesInBatch', valueUnsignedInt: 3 },
    ]);
    receiver.next({ kind: 'held' });
    const [first = '', ...rest] = Array.from({ length: 8 }, newName);
    await write(first);
    await received(1);
    for (const id of rest) await write(id);
    receiver.release();
    await delivered(destinationId, 8);
    const expected = [first, ...rest].map((id, index) => [index + 1, `Patient/${id}`]);
    expect(eventsOf(receiver.bodies)).toEqual([
      expected.slice(0, 1),
      expected.slice(1, 4),
      expected.slice(4, 7),
      expected.slice(7),
    ]);
  });

  it('come in batches of 20 by default', async () => {
    const destinationId = await newDestination(await newTopic());
    receiver.next({ kind: 'held' });
    await write(newName());
    await received(1);
    await Promise.all(Array.from({ length: 25 }, () => write(newName())));
    receiver.release();
    await delivered(destinationId, 26);
    expect(receiver.bodies.map(({ entry }) => entry.length - 1)).toEqual([1, 20, 5]);
  });

  it('of more than 8 MiB come in batches of one', async () => {
    const destinationId = await newDestination(await newTopic());
    receiver.next({ kind: 'held' });
    await write(newName());
    await received(1);
    const long = {
      text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${'x'.repeat(9_000_000)}</div>` },
    };
    await write(newName(), long);
    await write(newName(), long);
    await write(newName());
    receiver.release();
    await delivered(destinationId, 4);
    expect(eventsOf(receiver.bodies).map((events) => events.map(([number]) => number))).toEqual([[1], [2], [3], [4]]);
  });

  it('of one resource come in the order of its versions, however many write at once', async () => {
    const destinationId = await newDestination(await newTopic());
    const ids = Array.from({ length: 4 }, newName);
    const writers = Array.from({ length: 8 }, async (_value, writer) => {
      for (let round = 0; round < 8; round++)
        await write(ids[round % 4] ?? '', { multipleBirthInteger: writer * 100 + round });
    });
    await Promise.all(writers);
    await delivered(destinationId, 64);
    const versions = new Map<string, number[]>();
    for (const { entry } of receiver.bodies) {
      for (const { resource } of entry.slice(1) as { resource: { id: string; meta: { versionId: string } } }[]) {
        versions.set(resource.id, [...(versions.get(resource.id) ?? []), Number(resource.meta.versionId)]);
      }
    }
    const inOrder = Array.from({ length: 16 }, (_value, index) => index + 1);
    expect(versions).toEqual(new Map(ids.map((id) => [id, inOrder])));
    expect(eventsOf(receiver.bodies).flatMap((events) => events.map(([number]) => number))).toEqual(
      Array.from({ length: 64 }, (_value, index) => index + 1),
    );
  });

  it('go to each destination of the topic, and a failing one holds up no other', async () => {
    const topic = await newTopic();
    const failing = await WebhookReceiver.start();
    try {
      failing.always({ kind: 'answer', status: 500 });
      await newDestination(topic, [{ name: 'endpoint', valueUrl: failing.url }]);
      const healthy = await newDestination(topic);
      for (let count = 0; count < 3; count++) await write(newName());
      await delivered(healthy, 3);
      await eventually('the failing one was tried again', () => failing.requests.length > 1);
    } finally {
      await failing.stop();
    }
  });
});

describe('A failed attempt', () => {
  it('is repeated with the same bytes and the same id until it is delivered', async () => {
    const destinationId = await newDestination(await newTopic(), [endpoint(), { name: 'keepAlive', valueInteger: -1 }]);
    receiver.next({ kind: 'answer', status: 503 }, { kind: 'reset' }, { kind: 'answer', status: 404 });
    await write(newName());
    await write(newName());
    await delivered(destinationId, 2);
    const firsts = receiver.requests.slice(0, 4).map(({ body, headers }) => [body, headers['webhook-id']]);
    expect(new Set(firsts.map((pair) => JSON.stringify(pair))).size).toBe(1);
    const first = (receiver.bodies[0]?.entry.length ?? 0) - 1;
    expect(await status(destinationId)).toEqual({
      counts: {
        messageBatchesDelivered: receiver.requests.length - 3,
        messageBatchesDeliveryAttempts: 3,
        messagesDelivered: 2,
        messagesDeliveryAttempts: 3 * first,
        messagesInProcess: 0,
        messagesQueued: 0,
      },
      errors: ['HTTP 404', 'The connection was closed before an answer came', 'HTTP 503'],
    });
  });

  it.each([301, 302, 307, 308])('is one that was answered with %i: redirects are not followed', async (code) => {
    const target = await WebhookReceiver.start();
    try {
      const destinationId = await newDestination(await newTopic());
      receiver.next({ kind: 'answer', status: code, headers: { location: target.url } });
      await write(newName());
      await delivered(destinationId, 1);
      expect([target.requests.length, (await status(destinationId)).errors]).toEqual([0, [`HTTP ${code}`]]);
    } finally {
      await target.stop();
    }
  });

  it.each([200, 201, 202, 204, 299])('is none that was answered with %i', async (code) => {
    const destinationId = await newDestination(await newTopic());
    receiver.next({ kind: 'answer', status: code });
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
      receiver.next(behavior);
      const startedAt = performance.now();
      await write(newName());
      const { errors } = await eventually('the attempt has failed', async () => {
        const found = await status(destinationId);
        return found.errors.length > 0 ? found : undefined;
      });
      expect(errors).toEqual(['No answer within 1 s']);
      expect(performance.now() - startedAt).toBeLessThan(2500);
      await delivered(destinationId, 1);
    },
  );

  it('is none when the head came in time, whatever the body does', async () => {
    const destinationId = await newDestination(await newTopic(), [
      endpoint(),
      { name: 'timeout', valueUnsignedInt: 1 },
    ]);
    receiver.next({ kind: 'endless' });
    await write(newName());
    await write(newName());
    await delivered(destinationId, 2);
    expect((await status(destinationId)).errors).toEqual([]);
  });

  it('waits as long as Retry-After asks', async () => {
    const destinationId = await newDestination(await newTopic());
    receiver.next({ kind: 'answer', status: 429, headers: { 'retry-after': '2' } });
    await write(newName());
    await delivered(destinationId, 1);
    expect(receiver.request(1).at - receiver.request(0).at).toBeGreaterThan(1950);
  });

  it('tells the refusal of an address that is not allowed', async () => {
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
  it('are made to the addresses of a name', async () => {
    const destinationId = await newDestination(await newTopic(), [
      { name: 'endpoint', valueUrl: `http://localhost:${receiver.port}/hook` },
    ]);
    await write(newName());
    await delivered(destinationId, 1);
    expect(receiver.request(0).headers.host).toBe(`localhost:${receiver.port}`);
  });

  it('are kept and used again', async () => {
    const destinationId = await newDestination(await newTopic());
    for (let count = 1; count <= 3; count++) {
      await write(newName());
      await delivered(destinationId, count);
    }
    expect(new Set(receiver.requests.map(({ connection }) => connection)).size).toBe(1);
  });

  it('are made anew for each request with keepAlive -1', async () => {
    const destinationId = await newDestination(await newTopic(), [endpoint(), { name: 'keepAlive', valueInteger: -1 }]);
    for (let count = 1; count <= 3; count++) {
      await write(newName());
      await delivered(destinationId, count);
    }
    expect(new Set(receiver.requests.map(({ connection }) => connection)).size).toBe(3);
  });

  it('that the receiver ended while they were idle cost no failed attempt', async () => {
    const destinationId = await newDestination(await newTopic());
    await write(newName());
    await delivered(destinationId, 1);
    receiver.next({ kind: 'reset' });
    await write(newName());
    await delivered(destinationId, 2);
    expect([receiver.requests.length, (await status(destinationId)).counts.messageBatchesDeliveryAttempts]).toEqual([
      3, 0,
    ]);
  });
});

describe('A worker whose proof of life is gone', () => {
  it('claims nothing', async () => {
    const destinationId = await newDestination(await newTopic());
    receiver.next({ kind: 'hang' });
    await write(newName());
    await received(1);
    // As if the attempt had been given back: from here on the destination is due for whoever asks.
    await app.app
      .get(DataSource)
      .query('update destination_runtime set owner_slot = null where destination_id = $1', [destinationId]);
    const queue = app.app.get(DeliveryQueue, { strict: false });
    const slots = await app.app
      .get(DataSource)
      .query<{ slot: number }[]>(`select nextval('worker_slot')::integer as slot`);
    const [{ slot } = { slot: 0 }] = slots;
    const [{ destinationKey: key } = { destinationKey: 0 }] = await queue.due();
    expect(await queue.claim(slot, key, false)).toBeUndefined();
    const claimOfTheLiving = await queue.claim(app.app.get(WorkerIdentity, { strict: false }).slot ?? 0, key, false);
    expect(claimOfTheLiving).toMatchObject({ destinationId });
  });
});

describe('A changed destination', () => {
  it('sends what waits to its new endpoint at once, under the old numbers', async () => {
    const destinationId = await newDestination(await newTopic(), [endpoint()]);
    receiver.always({ kind: 'hang' });
    const id = newName();
    await write(id);
    await received(1);
    const other = await WebhookReceiver.start();
    try {
      const read = (await app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json();
      const changedAt = performance.now();
      const changed = await app.put(`/fhir/SvcTopicDestination/${destinationId}`, {
        ...read,
        parameter: [{ name: 'endpoint', valueUrl: other.url }],
      });
      expect(changed.status).toBe(200);
      await delivered(destinationId, 1);
      expect(other.request(0).at - changedAt).toBeLessThan(1000);
      expect([eventsOf(other.bodies), other.requests[0]?.body]).toEqual([
        [[[1, `Patient/${id}`]]],
        receiver.requests[0]?.body,
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
  ])('ends the open batch with content %s and goes on with %s', async (before, after) => {
    const topic = await newTopic();
    const destinationId = await newDestination(topic, [endpoint()], { content: before });
    receiver.next({ kind: 'hang' });
    const [first, second] = [newName(), newName()];
    await write(first);
    await received(1);
    await write(second);
    const path = `/fhir/SvcTopicDestination/${destinationId}`;
    expect((await app.put(path, destination(topic, [endpoint()], { content: after }))).status).toBe(200);
    await delivered(destinationId, 2);
    const contents = receiver.bodies.map(({ entry: [, { fullUrl, resource } = {}] }) => ({
      fullUrl,
      ...(resource === undefined ? {} : { id: (resource as { id: string }).id }),
    }));
    const shown = (id: string, content: string): object => ({
      fullUrl: expect.stringContaining(`/${id}`),
      ...(content === 'full-resource' ? { id } : {}),
    });
    expect(contents).toEqual([shown(first, before), shown(first, before), shown(second, after)]);
  });

  it('starts to pause anew', async () => {
    const destinationId = await newDestination(await newTopic());
    receiver.always({ kind: 'answer', status: 503, headers: { 'retry-after': '600' } });
    await write(newName());
    await eventually('it failed', async () => (await status(destinationId)).errors.length === 1);
    receiver.always({ kind: 'answer', status: 200 });
    const read = (await app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json();
    await app.put(`/fhir/SvcTopicDestination/${destinationId}`, { ...read, content: 'id-only' });
    await delivered(destinationId, 1);
  });
});

describe('A deleted destination', () => {
  it('sends nothing more, and its queue is gone', async () => {
    const topic = await newTopic();
    const destinationId = await newDestination(topic);
    receiver.always({ kind: 'answer', status: 500 });
    await write(newName());
    await received(1);
    expect((await app.delete(`/fhir/SvcTopicDestination/${destinationId}`)).status).toBe(200);
    expect((await app.get(`/fhir/SvcTopicDestination/${destinationId}/$status`)).status).toBe(404);
    const orphans = `select from open_batch
      where destination_key not in (select destination_key from destination_runtime)`;
    expect(await app.app.get(DataSource).query(orphans)).toEqual([]);
    receiver.always({ kind: 'answer', status: 200 });
    const before = receiver.requests.length;
    const again = newName();
    await app.put(`/fhir/SvcTopicDestination/${destinationId}`, { ...destination(topic), id: destinationId });
    await write(again);
    await delivered(destinationId, 1);
    expect(eventsOf(receiver.bodies.slice(before))).toEqual([[[1, `Patient/${again}`]]]);
  });

  it('leaves no events behind that were written while it went', async () => {
    const database = app.app.get(DataSource);
    await database.query(`insert into outbox_event
        (destination_key, resource_type, resource_id, version, interaction, method, payload_bytes)
      values (999999, 'Patient', 'p', 1, 'create', 'PUT', 1)`);
    const sweeper = await startTestApp({
      databaseUrl: app.databaseUrl,
      environment: { SVC_DELIVERY_POLL_MILLISECONDS: '50' },
    });
    const left = (): Promise<unknown[]> => database.query('select from outbox_event where destination_key = 999999');
    await eventually('they are gone', async () => (await left()).length === 0);
    await sweeper.close();
  });
});

describe('$status', () => {
  it('has the properties in their order', async () => {
    const destinationId = await newDestination(await newTopic());
    const answer = await app.get(`/fhir/SvcTopicDestination/${destinationId}/$status`);
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

  it('tells what is in process and what waits', async () => {
    const destinationId = await newDestination(await newTopic(), [
      endpoint(),
      { name: 'maxMessagesInBatch', valueUnsignedInt: 2 },
    ]);
    receiver.always({ kind: 'hang' });
    await write(newName());
    await received(1);
    for (let count = 0; count < 4; count++) await write(newName());
    expect((await status(destinationId)).counts).toMatchObject({
      messagesDelivered: 0,
      messagesInProcess: 1,
      messagesQueued: 4,
    });
  });

  it('shows at most five errors, the newest first', async () => {
    const destinationId = await newDestination(await newTopic());
    const read = (await app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json();
    receiver.always({ kind: 'answer', status: 500 });
    await write(newName());
    for (const code of [500, 501, 502, 503, 504, 505]) {
      await eventually(
        `it failed with ${code}`,
        async () => (await status(destinationId)).errors[0] === `HTTP ${code}`,
      );
      receiver.always({ kind: 'answer', status: code + 1, headers: { 'retry-after': '600' } });
      // A change ends the pause.
      await app.put(`/fhir/SvcTopicDestination/${destinationId}`, {
        ...read,
        content: code % 2 === 0 ? 'empty' : 'id-only',
      });
    }
    await eventually('it failed once more', async () => (await status(destinationId)).errors[0] === 'HTTP 506');
    expect((await status(destinationId)).errors).toEqual(['HTTP 506', 'HTTP 505', 'HTTP 504', 'HTTP 503', 'HTTP 502']);
  });

  it('is 404 for a destination that never was', async () => {
    expect((await app.get('/fhir/SvcTopicDestination/never/$status')).status).toBe(404);
  });
});

describe('A kind of another module', () => {
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
      databaseUrl: app.databaseUrl,
      environment: { SVC_DELIVERY_POLL_MILLISECONDS: '100', SVC_SHUTDOWN_SECONDS: '1' },
    });
  });
  afterAll(() => second.close());

  it('send one batch of a destination at a time, in order, and tell the same status', async () => {
    const destinationId = await newDestination(await newTopic(), [
      endpoint(),
      { name: 'maxMessagesInBatch', valueUnsignedInt: 3 },
    ]);
    receiver.always({ kind: 'slow', milliseconds: 10 });
    const id = newName();
    for (let version = 1; version <= 40; version++) {
      await (version % 2 === 0 ? app : second).put(`/fhir/Patient/${id}`, {
        resourceType: 'Patient',
        id,
        multipleBirthInteger: version,
      });
    }
    await delivered(destinationId, 40);
    expect(receiver.mostAtOnce).toBe(1);
    const numbers = eventsOf(receiver.bodies).flatMap((events) => events.map(([number]) => number));
    expect(numbers).toEqual(Array.from({ length: 40 }, (_value, index) => index + 1));
    expect(await status(destinationId, second)).toEqual(await status(destinationId));
  });

  it('know of a new topic and destination from the moment of the answer', async () => {
    const topic = await newTopic();
    const destinationId = await newDestination(topic);
    const answer = await second.post('/fhir/Patient', { resourceType: 'Patient' });
    await delivered(destinationId, 1);
    expect(receiver.references).toEqual([`Patient/${answer.json<{ id: string }>().id}`]);
  });

  it('end what one sends when the destination is changed on the other', async () => {
    const destinationId = await newDestination(await newTopic());
    receiver.next({ kind: 'hang' });
    await second.put(`/fhir/Patient/${newName()}`, { resourceType: 'Patient' });
    await received(1);
    const read = (await app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json();
    await app.put(`/fhir/SvcTopicDestination/${destinationId}`, { ...read, content: 'id-only' });
    await delivered(destinationId, 1);
    await eventually('the hung attempt is ended', () => receiver.open === 0);
  });
});
