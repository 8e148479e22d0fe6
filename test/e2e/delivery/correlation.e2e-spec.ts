import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RequestContext } from '../../../src/platform/request/request-context';
import { ContextLogger } from '../../../src/platform/logging/context-logger';
import { countsOf, delivered, destination, newDestination, newName, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { putParameter } from '../../support/store';
import { type Received, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';
import { type NotificationBody, WebhookReceiver } from '../../../testing/webhook-receiver';

const HEADER = 'x-topic-correlation-id';
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';

let app: TestApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  // Without polls, only writes wake the worker.
  app = await startTestApp({ environment: { SVC_DELIVERY_POLL_MILLISECONDS: '60000', SVC_SHUTDOWN_SECONDS: '1' } });
});
afterAll(() => app.close());
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(() => receiver.stop());

type Headers = Readonly<Record<string, string>>;

/** Each event as its resource with its correlation id, such as "Basic/b order-1"; "-" stands for a missing id. */
const correlatedEvents = (bodies: readonly NotificationBody[]): string[] =>
  bodies.flatMap(({ entry: [status] }) =>
    status.resource.notificationEvent.map((event) =>
      [event.focus.reference, 'correlationId' in event ? event.correlationId : '-'].join(' '),
    ),
  );

/** Stores a destination for all writes of a type. */
const hear = async (type: string, more: object = {}): Promise<string> =>
  newDestination(app, destination(await newTopic(app, { resource: type }), more, receiver.url));

const basic = (id: string, more: object = {}): object => ({
  resourceType: 'Basic',
  id,
  code: { text: 'x' },
  identifier: [{ value: id }],
  ...more,
});
const request = (method: string, url: string, resource?: object, more: object = {}): object => ({
  request: { method, url, ...more },
  ...(resource === undefined ? {} : { resource }),
});

/** Sends a request with these headers, and expects success. */
async function send(method: string, path: string, headers: Headers, body?: object, on = app): Promise<Received> {
  const answer = await on.send(method, path, { headers, ...(body === undefined ? {} : { body }) });
  expect([answer.status < 300, answer.text]).toEqual([true, expect.any(String)]);
  return answer;
}
const put = (id: string, headers: Headers = {}, more: object = {}): Promise<Received> =>
  send('PUT', `/fhir/Basic/${id}`, headers, basic(id, more));

async function sendBundle(type: string, headers: Headers, entry: readonly object[], on = app): Promise<void> {
  const answer = await send('POST', '/fhir', headers, { resourceType: 'Bundle', type, entry }, on);
  const statuses = answer.json<{ entry: { response: { status: string } }[] }>().entry.map((one) => one.response.status);
  expect(statuses.filter((status) => !status.startsWith('20'))).toEqual([]);
}

/** Entries of a Bundle: the server stores some of them together, and sends the others to their routes one by one. */
const entriesOf = (id: string): object[] => [
  request('PUT', `Basic/${id}-a`, basic(`${id}-a`)),
  request('PUT', `Basic/${id}-b`, basic(`${id}-b`)),
  request('PUT', `Basic?identifier=${id}-c`, basic(`${id}-c`)),
  request('POST', 'Basic', basic(`${id}-d`), { ifNoneExist: `identifier=${id}-none` }),
];
const ENTRIES = ['a', 'b', 'c', 'd'];

describe('x-topic-correlation-id of a request', () => {
  /** Each kind of write; some need earlier writes, which are sent without the header. */
  it.each<[string, (id: string, headers: Headers) => Promise<unknown>, (id: string) => readonly unknown[]]>([
    ['POST', (id, headers) => send('POST', '/fhir/Basic', headers, basic(id)), (id) => [`${id} ${id}`]],
    [
      'POST with an id from the server',
      (_id, headers) => send('POST', '/fhir/Basic', headers, { code: { text: 'x' } }),
      (id) => [expect.stringMatching(new RegExp(` ${id}$`))],
    ],
    ['PUT that creates', (id, headers) => put(id, headers), (id) => [`${id} ${id}`]],
    [
      'PUT that updates',
      async (id, headers) => [await put(id), await put(id, headers, { created: '2024' })],
      (id) => [`${id} -`, `${id} ${id}`],
    ],
    [
      'DELETE',
      async (id, headers) => [await put(id), await send('DELETE', `/fhir/Basic/${id}`, headers)],
      (id) => [`${id} -`, `${id} ${id}`],
    ],
    [
      'PATCH',
      async (id, headers) => [
        await put(id),
        await send('PATCH', `/fhir/Basic/${id}`, { ...headers, 'Content-Type': JSON_PATCH }, [
          { op: 'add', path: '/created', value: '2024' },
        ]),
      ],
      (id) => [`${id} -`, `${id} ${id}`],
    ],
    [
      'conditional create and update',
      async (id, headers) => [
        await send('POST', '/fhir/Basic', { ...headers, 'If-None-Exist': `identifier=${id}` }, basic(id)),
        await send('PUT', `/fhir/Basic?identifier=${id}`, headers, basic(id, { created: '2024' })),
      ],
      (id) => [`${id} ${id}`, `${id} ${id}`],
    ],
    [
      'conditional patch and delete',
      async (id, headers) => [
        await put(id),
        await send(
          'PATCH',
          `/fhir/Basic?identifier=${id}`,
          { ...headers, 'Content-Type': MERGE_PATCH },
          { created: '2024' },
        ),
        await send('DELETE', `/fhir/Basic?identifier=${id}`, headers),
      ],
      (id) => [`${id} -`, `${id} ${id}`, `${id} ${id}`],
    ],
    [
      'a serializable write',
      (id, headers) => put(id, { ...headers, 'x-max-isolation-level': 'serializable' }),
      (id) => [`${id} ${id}`],
    ],
    [
      'each entry of a transaction',
      (id, headers) => sendBundle('transaction', headers, entriesOf(id)),
      (id) => ENTRIES.map((entry) => `${id}-${entry} ${id}`),
    ],
    [
      'each entry of a batch',
      (id, headers) => sendBundle('batch', headers, entriesOf(id)),
      (id) => ENTRIES.map((entry) => `${id}-${entry} ${id}`),
    ],
    [
      'no entry of a batch without the header',
      (id) => sendBundle('batch', {}, entriesOf(id)),
      (id) => ENTRIES.map((entry) => `${id}-${entry} -`),
    ],
    ['no write with an empty header', (id) => put(id, { [HEADER]: '' }), (id) => [`${id} -`]],
  ])('is sent with the event of %s', async (_door, work, expected) => {
    const [hook, id] = [await hear('Basic'), newName()];
    await work(id, { [HEADER]: id });
    const wanted = expected(id).map((one) => (typeof one === 'string' ? `Basic/${one}` : one));
    await delivered(app, hook, wanted.length);
    await app.delete(`/fhir/SvcTopicDestination/${hook}`);
    const correlated = correlatedEvents(receiver.bodies);
    expect(correlated.length === 1 ? correlated : correlated.sort()).toEqual(
      wanted.length === 1 ? wanted : wanted.sort(),
    );
  });

  it('is sent with the events of RPC methods and of writes by the server', async () => {
    const [addenda, sessions] = [await hear('SDCAddendum'), await hear('Session')];
    const audit = await hear('AuditEvent');
    const [id, client] = [newName(), newName()];
    const user = { resourceType: 'User', id: 'admin' };
    const document = { resourceType: 'SDCDocument', id, status: 'completed' };
    const target = { resourceType: 'SDCDocument', id };
    await app.put(`/fhir/SDCDocument/${id}`, document);
    await send('POST', '/rpc', { [HEADER]: id }, [
      { method: 'svc.sdc.addendum/add-to-history', params: { resource: document, user } },
      { method: 'svc.sdc.addendum/add-note', params: { target, user, text: 'n' } },
    ]);
    await send('PUT', `/Client/${client}`, { [HEADER]: id }, { secret: 's', grant_types: ['client_credentials'] });
    await app.send('POST', '/auth/token', {
      authorization: basicHeader(client, 's'),
      headers: { [HEADER]: id },
      body: { grant_type: 'client_credentials' },
    });
    // Five events: of two addenda, of one Session, and of two AuditEvents. The AuditEvents are about the write of the
    // Client and the new Session; that of the write of `audit` itself was stored before `audit` was in force.
    await delivered(app, addenda, 2);
    await delivered(app, sessions, 1);
    await delivered(app, audit, 2);
    const correlated = correlatedEvents(receiver.bodies).map((event) => event.replace(/\/\S+/, ''));
    for (const hook of [audit, addenda, sessions]) await app.delete(`/fhir/SvcTopicDestination/${hook}`);
    expect(correlated.sort()).toEqual(
      ['AuditEvent', 'AuditEvent', 'SDCAddendum', 'SDCAddendum', 'Session'].map((type) => `${type} ${id}`),
    );
  });

  it('is never sent with the event of another concurrent request', async () => {
    const [hook, name] = [await hear('Basic', { content: 'id-only' }), newName()];
    const wanted: string[] = [];
    const writes = Array.from({ length: 60 }, (_none, index) => {
      const id = `${name}-${index}`;
      const headers: Headers = index % 5 === 4 ? {} : { [HEADER]: `of-${id}` };
      const correlationId = index % 5 === 4 ? '-' : `of-${id}`;
      if (index % 3 === 0) {
        wanted.push(`Basic/${id} ${correlationId}`);
        return put(id, headers);
      }
      wanted.push(...ENTRIES.map((entry) => `Basic/${id}-${entry} ${correlationId}`));
      return sendBundle(index % 3 === 1 ? 'transaction' : 'batch', headers, entriesOf(id));
    });
    await Promise.all(writes);
    await delivered(app, hook, wanted.length);
    await app.delete(`/fhir/SvcTopicDestination/${hook}`);
    expect(correlatedEvents(receiver.bodies).sort()).toEqual(wanted.sort());
  });

  it('stays the same in each attempt, in a replay and at a test endpoint, and $events shows it', async () => {
    const parameter = [
      { name: 'endpoint', valueUrl: receiver.url },
      { name: 'maxMessagesInBatch', valueUnsignedInt: 2 },
    ];
    const [hook, id] = [await hear('Basic', { parameter }), newName()];
    const eventsOf = async (query: string): Promise<string[]> => {
      const path = `/fhir/SvcTopicDestination/${hook}/$events?${query}`;
      const { parameter: events = [] } = (await app.get(path)).json<{
        parameter?: { part: { name: string; valueString?: string }[] }[];
      }>();
      return events.map(({ part }) => part.find((one) => one.name === 'correlationId')?.valueString ?? '-');
    };
    receiver.next({ kind: 'held', status: 503 }, { kind: 'answer', status: 429 }, { kind: 'answer', status: 200 });
    receiver.next({ kind: 'reset' });
    await put(`${id}-1`, { [HEADER]: 'one "quoted" <and> \\ more' });
    await eventually('the first batch is on its way', () => receiver.requests.length === 1);
    await put(`${id}-2`, { [HEADER]: 'x'.repeat(256) });
    await put(`${id}-3`);
    expect(await eventsOf('state=in-process')).toEqual(['one "quoted" <and> \\ more']);
    expect(await eventsOf('state=queued')).toEqual(['-', 'x'.repeat(256)]);
    receiver.release();
    await delivered(app, hook, 3);
    const all = ['-', 'x'.repeat(256), 'one "quoted" <and> \\ more'];
    expect(await eventsOf('state=delivered')).toEqual(all);
    const sent = new Map(receiver.requests.map(({ headers, body }) => [headers['webhook-id'], body]));
    expect([sent.size, receiver.requests.length]).toEqual([2, 5]);
    expect(correlatedEvents([...sent.values()].map((body) => JSON.parse(body) as NotificationBody))).toEqual(
      [...all].reverse().map((correlationId, index) => `Basic/${id}-${index + 1} ${correlationId}`),
    );
    const known = new Set(receiver.requests.map(({ body }) => body));
    await send('POST', `/fhir/SvcTopicDestination/${hook}/$replay?from=1`, { [HEADER]: 'of the replay' });
    await delivered(app, hook, 6);
    await send(
      'POST',
      `/fhir/SvcTopicDestination/${hook}/$replay?from=1&endpoint=${encodeURIComponent(receiver.url)}`,
      {
        [HEADER]: 'of the trial',
      },
    );
    await app.delete(`/fhir/SvcTopicDestination/${hook}`);
    expect(receiver.requests.length).toBe(9);
    expect(new Set(receiver.requests.map(({ body }) => body))).toEqual(known);
  });

  it('is shown by $events only to callers who may read the resource of the event', async () => {
    const [hook, client] = [await hear('Basic'), newName()];
    await put(newName(), { [HEADER]: 'of-a-stranger' });
    await app.put(`/Client/${client}`, { secret: 's', grant_types: ['basic'] });
    await app.post('/AccessPolicy', {
      engine: 'matcho',
      matcho: { uri: '#/SvcTopicDestination/' },
      link: [{ resourceType: 'Client', id: client }],
    });
    const path = `/fhir/SvcTopicDestination/${hook}/$events`;
    const answer = await app.get(path, { authorization: basicHeader(client, 's') });
    expect([answer.status, answer.text.includes('recorded'), answer.text.includes('of-a-stranger')]).toEqual([
      200,
      true,
      false,
    ]);
    expect((await app.get(path)).text).toContain('of-a-stranger');
    await app.delete(`/fhir/SvcTopicDestination/${hook}`);
  });

  it.each([
    ['too long', 'x'.repeat(257)],
    ['with a tab', 'a\tb'],
    ['with characters beyond ASCII', 'ä'],
  ])('is refused on each route, and nothing is written, if it is %s', async (_what, value) => {
    const [hook, id] = [await hear('Basic'), newName()];
    const headers = { [HEADER]: value };
    const bundle = { resourceType: 'Bundle', type: 'batch', entry: entriesOf(id) };
    const answers = [
      await app.put(`/fhir/Basic/${id}`, basic(id), { headers }),
      await app.get('/fhir/Basic', { headers }),
      await app.post('/fhir', bundle, { headers }),
      await app.post('/rpc', { method: 'svc/echo', params: {} }, { headers }),
      await app.post('/auth/token', { grant_type: 'client_credentials' }, { headers }),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      answers.map(() => [400, expect.stringContaining(`${HEADER} must be 1 to 256 printable ASCII characters`)]),
    );
    expect(answers.map(({ text }) => text.includes(value))).toEqual(answers.map(() => false));
    expect(await countsOf(app, hook)).toMatchObject({ messagesDelivered: 0, messagesQueued: 0, messagesInProcess: 0 });
    await app.delete(`/fhir/SvcTopicDestination/${hook}`);
  });

  it.each(['/api', '/api/', '/api-json', '/api/swagger-ui.css', '/health', '/.well-known/jwks.json', '/nowhere'])(
    'C12.10: is refused on %s too, though it causes no event',
    async (path) => {
      const { status, text } = await app.get(path, { headers: { [HEADER]: 'x'.repeat(257) } });
      expect([status, text]).toEqual([400, expect.stringContaining(`${HEADER} must be 1 to 256`)]);
    },
  );

  it('can use another header name, which the OpenAPI document shows', async () => {
    const other = await startTestApp({
      databaseUrl: app.databaseUrl,
      environment: { SVC_TOPIC_CORRELATION_HEADER: 'X-Request-Id' },
    });
    try {
      const [hook, id] = [await hear('Basic'), newName()];
      await send('PUT', `/fhir/Basic/${id}`, { 'X-Request-Id': 'asked', [HEADER]: 'no' }, basic(id), other);
      // The server makes the request ids of the entries of a batch, so their events have no correlation id.
      await sendBundle('batch', {}, entriesOf(id), other);
      await delivered(app, hook, 5);
      await app.delete(`/fhir/SvcTopicDestination/${hook}`);
      expect(correlatedEvents(receiver.bodies).sort()).toEqual(
        [`Basic/${id} asked`, ...ENTRIES.map((entry) => `Basic/${id}-${entry} -`)].sort(),
      );
      const parameters = (await other.get('/api-json')).json<{
        components: { parameters: { topicCorrelation: { name: string } } };
      }>().components.parameters;
      expect(parameters.topicCorrelation.name).toBe('x-request-id');
    } finally {
      await other.close();
    }
  });
});

describe('X-Correlation-Id of a request', () => {
  const INDEXED = 'Indexing Basic anew:';
  const ids = { 'X-Request-Id': 'request-1', 'X-Correlation-Id': 'order-4711' };

  it('is in the response and in the log of the request, but not in the log of later deliveries', async () => {
    const lines: string[] = [];
    for (const stream of [process.stdout, process.stderr])
      jest.spyOn(stream, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    app.app.useLogger(new ContextLogger('verbose', app.app.get(RequestContext)));
    try {
      const hook = await hear('Basic', { enableLogging: true });
      const headers = { ...ids, [HEADER]: 'for-receivers-only' };
      await put(newName(), { ...headers, 'x-max-isolation-level': 'serializable' });
      await delivered(app, hook, 1);
      await putParameter(
        app,
        'followed',
        { base: ['Basic'], type: 'string', expression: 'Basic.language' },
        { headers },
      );
      await eventually('the index is begun', () => lines.find((line) => line.includes(INDEXED)));
      const refused = await app.post('/auth/token', { grant_type: 'password' }, { authorization: null, headers });
      expect([refused.headers.get('x-request-id'), refused.headers.get('x-correlation-id')]).toEqual(
        Object.values(ids),
      );
      await app.delete(`/fhir/SvcTopicDestination/${hook}`);
    } finally {
      jest.restoreAllMocks();
      app.app.useLogger(new ContextLogger('error', app.app.get(RequestContext)));
    }
    expect(correlatedEvents(receiver.bodies)).toEqual([expect.stringContaining('for-receivers-only')]);
    const logged = lines.map((line) => JSON.parse(line) as { message: unknown; requestId?: string });
    const of = (event: string): object[] => logged.filter(({ message }) => JSON.stringify(message).includes(event));
    expect(of('OAuth request refused')).toEqual([
      expect.objectContaining({ requestId: 'request-1', correlationId: 'order-4711' }),
    ]);
    for (const later of ['delivery attempt', INDEXED])
      expect(of(later).map((line) => Object.keys(line).filter((key) => key.endsWith('Id')))).toEqual([[]]);
    expect(lines.join('')).not.toContain('for-receivers-only');
  });

  it('finds the AuditEvents of the request, as the request id does', async () => {
    await send('PUT', `/Client/${newName()}`, ids, { secret: 's', grant_types: ['basic'] });
    for (const id of Object.values(ids)) {
      const { entry } = (await app.get(`/AuditEvent?entity:identifier=${id}&action=C`)).json<{
        entry: { resource: { entity: { what: { identifier?: { value: string } } }[] } }[];
      }>();
      expect(entry.map(({ resource }) => resource.entity.flatMap(({ what }) => what.identifier?.value ?? []))).toEqual([
        Object.values(ids),
      ]);
    }
  });

  it.each(['', 'x'.repeat(65), 'two words', '{"level":"error"}'])(
    'is ignored if it is invalid: "%s"',
    async (value) => {
      const answer = await app.get('/fhir/Basic', { headers: { 'X-Correlation-Id': value } });
      expect([answer.status, answer.headers.get('x-correlation-id')]).toEqual([200, null]);
    },
  );
});
