import { describe, expect, it } from '@jest/globals';
import { type Received, basicHeader } from '../../../testing/test-app';
import { useDestinationApp } from '../../support/destination-app';
import { newName, WEBHOOK_PROFILE } from '../../support/destinations';

const used = useDestinationApp();
const { endpoint, destination, newTopic, newDestination, write, received } = used;

describe('SvcTopicDestination (webhook kind)', () => {
  it('returns 201 with the stored resource', async () => {
    const body = destination('http://topics.example/none');
    const answer = await used.app.post('/fhir/SvcTopicDestination', body, { headers: { accept: 'application/json' } });
    const { id, meta, ...rest } = answer.json<{ id: string; meta: object }>();
    const { meta: _sent, ...sent } = body as { meta: object };
    expect({ status: answer.status, meta, rest, location: answer.headers.get('location') }).toEqual({
      status: 201,
      meta: {
        versionId: '1',
        lastUpdated: expect.any(String),
        extension: [{ url: 'urn:svc:created-at', valueInstant: (meta as { lastUpdated?: string }).lastUpdated }],
        profile: [WEBHOOK_PROFILE],
      },
      rest: sent,
      location: expect.stringContaining(`/SvcTopicDestination/${id}/_history/1`),
    });
  });

  it('is stored with the id of its body', async () => {
    const id = newName();
    expect(
      (await used.app.post('/fhir/SvcTopicDestination', { ...destination('http://t.example'), id })).json(),
    ).toMatchObject({ id });
    expect((await used.app.get(`/fhir/SvcTopicDestination/${id}/$status`)).status).toBe(200);
  });

  it.each(['topic=http://topics.example/found', 'kind=webhook-at-least-once'])('is found by %s', async (query) => {
    const id = await newDestination('http://topics.example/found');
    const found = (await used.app.get(`/fhir/SvcTopicDestination?${query}`)).json<{
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
      'a flag that is not a boolean',
      () => destination('http://t', [endpoint()], { includeVersionId: 'yes' }),
      'includeVersionId',
    ],
    ['no endpoint', () => destination('http://t', []), 'endpoint is required'],
    ['two endpoints', () => destination('http://t', [endpoint(), endpoint()]), 'endpoint may appear only once'],
    [
      'an endpoint in another value field',
      () => destination('http://t', [{ name: 'endpoint', valueString: used.receiver.url }]),
      'valueUrl',
    ],
    ['two value fields', () => destination('http://t', [{ ...endpoint(), valueString: 'x' }]), 'nothing else'],
    [
      'an endpoint that is not a URL',
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
      'a fractional number',
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
    ['the header Host', () => destination('http://t', [endpoint(), header('Host: x')]), 'names Host'],
    [
      'a header that is not a string',
      () => destination('http://t', [endpoint(), header(3)]),
      'header must be a string',
    ],
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
    [
      'parameters that are not an array',
      () => destination('http://t', undefined, { parameter: {} }),
      'must be an array',
    ],
  ])('refuses %s with 422', async (_what, body, message) => {
    const answer = await used.app.post('/fhir/SvcTopicDestination', body());
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
  await used.app.put(`/Client/${client}`, { secret, grant_types: ['basic'] });
  await used.app.post('/AccessPolicy', { engine: 'matcho', matcho, link: [{ resourceType: 'Client', id: client }] });
  return basicHeader(client, secret);
}

describe('Headers of a destination', () => {
  it('are sent to the endpoint, and masked except when the destination is read by id', async () => {
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
    const { rawHeaders, headers } = used.receiver.request(0);
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
    const texts = await Promise.all(reads.map(async (path) => (await used.app.get(path)).text));
    expect(texts.join()).not.toContain('geheim');
    expect(texts[0]).toContain('"Authorization: ***"');
  });

  it('are shown only to callers who may update the destination', async () => {
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
    const stored = await used.app.put(path, destination('http://t.example', parameter));
    expect(shownIn(stored)).toEqual(shown);
    const read = await used.app.get(path);
    expect([shownIn(read), read.headers.get('etag')]).toEqual([shown, 'W/"1"']);
    expect((await used.app.put(path, read.text)).headers.get('etag')).toBe('W/"1"');
    const patch = [{ op: 'add', path: '/content', value: 'empty' }];
    const headers = { 'Content-Type': 'application/json-patch+json' };
    expect(shownIn(await used.app.send('PATCH', path, { body: patch, headers }))).toEqual(shown);
    expect([
      shownIn(await used.app.get(`${path}/_history/2`)),
      shownIn(await used.app.get(`${path}/_history/1`)),
    ]).toEqual([masked, masked]);
    const reader = { authorization: await mayOnly({ uri: '#/SvcTopicDestination', 'request-method': 'get' }) };
    const denials = async (): Promise<unknown> => (await used.app.get('/fhir/AuditEvent?_summary=count')).json().total;
    const before = await denials();
    expect(shownIn(await used.app.get(path, reader))).toEqual(masked);
    expect(await denials()).toBe(before);
    expect((await used.app.put(path, read.text, reader)).status).toBe(403);
  });

  it('are those of the version in the same response, even during a change', async () => {
    const path = `/fhir/SvcTopicDestination/${newName()}`;
    const put = (version: number): Promise<Received> =>
      used.app.put(
        path,
        destination('http://t.example', [endpoint(), { name: 'header', valueString: `X-Key: v${version}` }]),
      );
    await put(1);
    const seen: string[] = [];
    let isChanging = true;
    const read = async (): Promise<void> => {
      while (isChanging) {
        const { headers, text } = await used.app.get(path);
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

  it('are kept when their masked form is sent back', async () => {
    const topic = await newTopic();
    const id = await newDestination(topic, [endpoint(), { name: 'header', valueString: 'X-Key: geheim' }]);
    const read = (await used.app.get(`/fhir/SvcTopicDestination/${id}/_history/1`)).json();
    expect(JSON.stringify(read)).toContain('X-Key: ***');
    expect((await used.app.put(`/fhir/SvcTopicDestination/${id}`, { ...read, content: 'id-only' })).status).toBe(200);
    await write(newName());
    await received(1);
    expect(used.receiver.requests[0]?.headers['x-key']).toBe('geheim');
  });

  it('create a new version when only a secret changed', async () => {
    const id = newName();
    const put = (valueString: string): Promise<Received> =>
      used.app.put(`/fhir/SvcTopicDestination/${id}`, {
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
