import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { countsOf, delivered, destination, newDestination, newName, newTopic } from '../../support/destinations';
import { ARRAYS } from '../../../src/delivery/batch-row';
import { eventually } from '../../../testing/eventually';
import { type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';
import { type ReceivedRequest, WebhookReceiver } from '../../../testing/webhook-receiver';

interface Part {
  readonly name: string;
  readonly part?: readonly Part[];
  readonly [value: string]: unknown;
}

let app: TestApp;
let receiver: WebhookReceiver;
let id: string;

beforeAll(async () => {
  app = await startTestApp({ environment: { SVC_DELIVERY_POLL_MILLISECONDS: '60000', SVC_SHUTDOWN_SECONDS: '1' } });
});
afterAll(() => app.close());
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  await app.delete(`/fhir/SvcTopicDestination/${id}`);
  await receiver.stop();
});

/** Stores a destination with batches of two events. */
async function start(...parameter: readonly object[]): Promise<void> {
  const topic = await newTopic(app);
  id = await newDestination(
    app,
    destination(topic, {
      includeVersionIdInFocusReference: true,
      parameter: [
        { name: 'endpoint', valueUrl: receiver.url },
        { name: 'maxMessagesInBatch', valueUnsignedInt: 2 },
        ...parameter,
      ],
    }),
  );
}

const write = async (patient: string, active = true): Promise<void> => {
  const answer = await app.put(`/fhir/Patient/${patient}`, { resourceType: 'Patient', id: patient, active });
  expect([200, 201]).toContain(answer.status);
};

async function call(method: string, operation: string, body?: object): Promise<readonly Part[]> {
  const answer = await app.send(
    method,
    `/fhir/SvcTopicDestination/${id}/${operation}`,
    body === undefined ? {} : { body },
  );
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json<{ parameter?: Part[] }>().parameter ?? [];
}

const valueOf = (parts: readonly Part[] | undefined, name: string): unknown =>
  Object.entries(parts?.find((part) => part.name === name) ?? {}).find(([member]) => member.startsWith('value'))?.[1];

/** Number, state and focus of each event of a page. */
async function events(query = ''): Promise<unknown[]> {
  return (await call('GET', `$events${query}`))
    .filter(({ name }) => name === 'event')
    .map(({ part }) => [
      valueOf(part, 'number'),
      valueOf(part, 'state'),
      (valueOf(part, 'focus') as { reference?: string } | undefined)?.reference,
    ]);
}

const reference = (body: string): string[] =>
  (
    JSON.parse(body) as {
      entry: [{ resource: { notificationEvent?: { eventNumber: number; focus: { reference: string } }[] } }];
    }
  ).entry[0].resource.notificationEvent?.map(({ eventNumber, focus }) => `${eventNumber} ${focus.reference}`) ?? [];

/** The requests after `first` that are new to a receiver which keeps the keys of all requests. */
function newTo(
  requests: readonly ReceivedRequest[],
  first: number,
  keysOf: (request: ReceivedRequest) => readonly string[],
): string[] {
  const known = new Set<string>();
  return requests.flatMap((request, index) => {
    const fresh = keysOf(request).filter((key) => !known.has(key));
    for (const key of fresh) known.add(key);
    return index < first ? [] : fresh;
  });
}

describe('$events', () => {
  it('lists all states of an event: recorded, batched, each attempt, delivered', async () => {
    await start();
    receiver.next({ kind: 'answer', status: 503 }, { kind: 'answer', status: 429 });
    const patient = newName();
    await write(patient);
    await delivered(app, id, 1);
    const [event] = await call('GET', '$events');
    const attempts = event?.part
      ?.filter(({ name }) => name === 'attempt')
      .map(({ part }) => [valueOf(part, 'delivered'), valueOf(part, 'outcome')]);
    expect(event?.part?.map(({ name }) => name)).toEqual([
      ...['number', 'state', 'focus', 'version', 'interaction', 'recorded', 'batched', 'attempts'],
      ...['attempt', 'attempt', 'attempt', 'delivered'],
    ]);
    expect(attempts).toEqual([
      [false, 'HTTP 503'],
      [false, 'HTTP 429'],
      [true, 'HTTP 200'],
    ]);
    const times = ['recorded', 'batched', 'delivered'].map((name) => String(valueOf(event?.part, name)));
    expect(times).toEqual([...times].sort());
    expect([valueOf(event?.part, 'version'), valueOf(event?.part, 'interaction')]).toEqual(['1', 'create']);
  });

  it('lists queued events first, pages without a gap, and filters by numbers, states and times', async () => {
    await start();
    const names = Array.from({ length: 6 }, newName);
    for (const name of names.slice(0, 3)) await write(name);
    await delivered(app, id, 3);
    receiver.always({ kind: 'hang' });
    for (const name of names.slice(3)) await write(name);
    await eventually('the next batch is on its way', () => receiver.open === 1);
    const focus = (index: number): string => `Patient/${names[index]}`;
    const all = [
      [undefined, 'queued', focus(5)],
      [undefined, 'queued', focus(4)],
      [4, 'in-process', focus(3)],
      [3, 'delivered', focus(2)],
      [2, 'delivered', focus(1)],
      [1, 'delivered', focus(0)],
    ];
    expect(await events()).toEqual(all);
    const paged: unknown[] = [];
    for (let query: string | undefined = '?_count=1'; query !== undefined;) {
      paged.push(...(await events(query)));
      const next: unknown = valueOf(await call('GET', `$events${query}`), 'next');
      query = typeof next === 'string' ? next.slice(next.indexOf('?')) : undefined;
    }
    expect(paged).toEqual(all);
    expect(await events('?from=2&to=4')).toEqual(all.slice(2, 5));
    expect(await events('?state=queued')).toEqual(all.slice(0, 2));
    expect(await events('?state=in-process')).toEqual(all.slice(2, 3));
    expect(await events('?state=delivered&_count=2')).toEqual(all.slice(3, 5));
    expect(await events('?until=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await events('?since=2020-01-01T00:00:00Z')).toEqual(all);
  });

  it.each([
    ['from=0', 'from must be a whole number'],
    ['to=x', 'to must be a whole number'],
    ['since=2026-01-01T00:00:00', 'with its zone'],
    ['until=2026-13-01T00:00:00Z', 'with its zone'],
    ['state=lost', 'state must be one of'],
    ['_count=101', '_count must be'],
    ['_page=x', '_page must come'],
    ['limit=3', 'limit is no parameter here'],
    ['from=1&from=2', 'twice'],
  ])('refuses %s', async (query, message) => {
    await start();
    const answer = await app.get(`/fhir/SvcTopicDestination/${id}/$events?${query}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
  });

  it('is 404 for an unknown destination', async () => {
    expect((await app.get('/fhir/SvcTopicDestination/none/$events')).status).toBe(404);
  });

  it('hides the resource of an event from callers who may not read it', async () => {
    await start();
    const patient = newName();
    await write(patient);
    await delivered(app, id, 1);
    const client = newName();
    const secret = 'a-secret-of-this-spec';
    await app.put(`/Client/${client}`, { secret, grant_types: ['basic'] });
    await app.post('/AccessPolicy', {
      engine: 'matcho',
      matcho: { uri: `#/SvcTopicDestination/` },
      link: [{ resourceType: 'Client', id: client }],
    });
    const answer = await app.get(`/fhir/SvcTopicDestination/${id}/$events`, {
      authorization: basicHeader(client, secret),
    });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"number"')]);
    expect(answer.text).not.toContain(patient);
    expect((await app.get(`/fhir/SvcTopicDestination/${id}/$events`)).text).toContain(patient);
  });
});

describe('$replay', () => {
  it('sends the same events again, with their numbers and after the queued ones, and returns the count', async () => {
    await start();
    const names = Array.from({ length: 5 }, newName);
    for (const name of names) await write(name);
    await delivered(app, id, 5);
    const before = receiver.requests.flatMap(({ body }) => reference(body));
    const { length } = receiver.requests;
    const result = await call('POST', '$replay', {
      resourceType: 'Parameters',
      parameter: [
        { name: 'from', valueDecimal: 2 },
        { name: 'to', valueDecimal: 4 },
      ],
    });
    expect([valueOf(result, 'queued'), valueOf(result, 'from'), valueOf(result, 'to')]).toEqual([3, 2, 4]);
    await delivered(app, id, 8);
    expect(receiver.requests.slice(length).flatMap(({ body }) => reference(body))).toEqual(before.slice(1, 4));
    await write(newName());
    await delivered(app, id, 9);
    expect(reference(receiver.requests.at(-1)?.body ?? '')).toEqual([expect.stringMatching(/^6 /)]);
    const [event] = (await call('GET', '$events?from=2&to=2')).map(({ part }) =>
      part?.filter(({ name }) => name === 'attempt').map((attempt) => valueOf(attempt.part, 'replay')),
    );
    expect(event).toEqual([undefined, true]);
  });

  it('causes no new events for a receiver that removes duplicates by webhook-id or by event number', async () => {
    await start();
    for (let count = 0; count < 5; count++) await write(newName());
    await delivered(app, id, 5);
    const first = receiver.requests.length;
    receiver.next({ kind: 'answer', status: 503 }, { kind: 'answer', status: 200 }, { kind: 'answer', status: 503 });
    await call('POST', '$replay?from=1');
    await delivered(app, id, 10);
    expect(newTo(receiver.requests, first, ({ headers }) => [String(headers['webhook-id'])])).toEqual([]);
    const sent = (requests: readonly ReceivedRequest[]): Set<string> =>
      new Set(requests.map(({ headers, body }) => `${String(headers['webhook-id'])} ${body}`));
    expect(sent(receiver.requests.slice(first))).toEqual(sent(receiver.requests.slice(0, first)));
    // A replay of a range, with smaller batches and other content, sends the same events in other notifications.
    const read = (await app.get(`/fhir/SvcTopicDestination/${id}`)).json();
    const parameter = [
      { name: 'endpoint', valueUrl: receiver.url },
      { name: 'maxMessagesInBatch', valueUnsignedInt: 1 },
    ];
    await app.put(`/fhir/SvcTopicDestination/${id}`, { ...read, content: 'empty', parameter });
    await call('POST', '$replay?from=2&to=4');
    await delivered(app, id, 13);
    expect(newTo(receiver.requests, first, ({ body }) => reference(body))).toEqual([]);
    expect(newTo(receiver.requests, first, ({ headers }) => [String(headers['webhook-id'])]).length).toBe(3);
  });

  it('selects events by time of delivery', async () => {
    await start();
    await write(newName());
    await delivered(app, id, 1);
    const queued = async (query: string): Promise<unknown> => valueOf(await call('POST', `$replay?${query}`), 'queued');
    expect(await queued('until=2020-01-01T00:00:00Z')).toBe(0);
    expect(await queued('since=2020-01-01T00:00:00Z')).toBe(1);
    await delivered(app, id, 2);
  });

  it('with dryRun only counts the events', async () => {
    await start();
    for (let count = 0; count < 3; count++) await write(newName());
    await delivered(app, id, 3);
    const { length } = receiver.requests;
    const body = {
      resourceType: 'Parameters',
      parameter: [
        { name: 'from', valueDecimal: 2 },
        { name: 'dryRun', valueBoolean: true },
      ],
    };
    expect(await call('POST', '$replay', body)).toEqual([
      { name: 'events', valueDecimal: 2 },
      { name: 'from', valueDecimal: 2 },
      { name: 'to', valueDecimal: 3 },
    ]);
    expect(await call('POST', '$replay?from=9&dryRun=true')).toEqual([{ name: 'events', valueDecimal: 0 }]);
    await write(newName());
    await delivered(app, id, 4);
    expect(receiver.requests.slice(length).flatMap(({ body: sent }) => reference(sent))).toEqual([
      expect.stringMatching(/^4 /),
    ]);
    expect((await app.post(`/fhir/SvcTopicDestination/${id}/$replay?from=1&dryRun=yes`, body)).status).toBe(400);
  });

  it('with dryRun returns the limit of one call', async () => {
    await start();
    await write(newName());
    await delivered(app, id, 1);
    const database = await app.connect();
    await database.query(
      `insert into delivery_attempt select destination_key, 2, ended_at, opened_at, 10001, duration_milliseconds,
         true, false, outcome, ${ARRAYS.split(', ')
           .map((column) => `array(select ${column}[1] from generate_series(1, 10001))`)
           .join(', ')} from delivery_attempt
       where destination_key = (select destination_key from destination_runtime where destination_id = $1)`,
      [id],
    );
    await database.end();
    const result = await call('POST', '$replay?from=1&dryRun=true');
    expect(['events', 'from', 'to', 'limitedTo'].map((name) => valueOf(result, name))).toEqual([
      10_002, 1, 10_002, 10_000,
    ]);
    const refused = await app.post(`/fhir/SvcTopicDestination/${id}/$replay?from=1`, { resourceType: 'Parameters' });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('up to number 10000')]);
  });

  it('requires a selection of events', async () => {
    await start();
    const answer = await app.post(`/fhir/SvcTopicDestination/${id}/$replay`, { resourceType: 'Parameters' });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Say what to send again')]);
  });

  it('sends the delivered bytes to a test endpoint immediately: signed, without headers, not counted', async () => {
    const secret = Buffer.alloc(32, 5).toString('base64');
    await start(
      { name: 'secret', valueString: secret },
      { name: 'header', valueString: 'Authorization: Bearer geheim' },
    );
    for (const name of [newName(), newName(), newName()]) await write(name);
    await delivered(app, id, 3);
    const counts = await countsOf(app, id);
    const sent = new Map(receiver.requests.map(({ headers, body }) => [headers['webhook-id'], body]));
    const other = await WebhookReceiver.start();
    try {
      await call('POST', `$replay?from=1&endpoint=${encodeURIComponent(other.url)}`);
      expect(new Map(other.requests.map(({ headers, body }) => [headers['webhook-id'], body]))).toEqual(sent);
      const { headers, body } = other.request(0);
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      const signature = createHmac('sha256', Buffer.from(secret, 'base64')).update(signed).digest('base64');
      expect([headers['webhook-signature'], headers.authorization]).toEqual([`v1,${signature}`, undefined]);
      expect(await countsOf(app, id)).toEqual(counts);
    } finally {
      await other.stop();
    }
  });

  it('stops at the first batch that a test endpoint refuses, and returns its position', async () => {
    await start();
    for (const name of [newName(), newName(), newName()]) await write(name);
    await delivered(app, id, 3);
    const { length } = receiver.requests;
    receiver.next({ kind: 'answer', status: 200 }, { kind: 'answer', status: 410 });
    const result = await call('POST', `$replay?from=1&endpoint=${encodeURIComponent(receiver.url)}`);
    expect(result.filter(({ name }) => name === 'batch').map(({ part }) => valueOf(part, 'outcome'))).toEqual([
      'HTTP 200',
      'HTTP 410',
    ]);
    expect(valueOf(result, 'next')).toBe(
      reference(receiver.request(length + 1).body).map((text) => Number(text.split(' ')[0]))[0],
    );
  });

  it('is refused to callers who may not change the destination', async () => {
    await start();
    const client = newName();
    const secret = 'a-secret-of-this-spec';
    await app.put(`/Client/${client}`, { secret, grant_types: ['basic'] });
    await app.post('/AccessPolicy', {
      engine: 'matcho',
      matcho: { uri: '#/\\$(replay|retry|test)' },
      link: [{ resourceType: 'Client', id: client }],
    });
    for (const operation of ['$replay?from=1', '$replay?from=1&dryRun=true', '$retry', '$test']) {
      const answer = await app.post(
        `/fhir/SvcTopicDestination/${id}/${operation}`,
        { resourceType: 'Parameters' },
        { authorization: basicHeader(client, secret) },
      );
      expect(answer.status).toBe(403);
    }
  });
});

describe('$request', () => {
  const shown = async (number: number): Promise<[readonly Part[], Map<unknown, unknown>]> => {
    const parts = await call('GET', `$request?number=${number}`);
    const headers = parts.filter(({ name }) => name === 'header');
    return [parts, new Map(headers.map(({ part }) => [valueOf(part, 'name'), valueOf(part, 'value')]))];
  };

  it('shows the sent request with every header, but no secret', async () => {
    await start(
      { name: 'secret', valueString: Buffer.alloc(32, 5).toString('base64') },
      { name: 'header', valueString: 'Authorization: Bearer geheim' },
    );
    receiver.next({ kind: 'answer', status: 503 });
    for (const name of [newName(), newName(), newName()]) await write(name);
    await delivered(app, id, 3);
    const sent = receiver.requests.at(-1) ?? receiver.request(0);
    const numbers = reference(sent.body).map((text) => Number(text.split(' ')[0]));
    const [parts, headers] = await shown(3);
    expect(['method', 'url', 'bytes', 'from', 'to'].map((name) => valueOf(parts, name))).toEqual([
      ...['POST', receiver.url, Buffer.byteLength(sent.body)],
      ...[numbers[0], 3],
    ]);
    expect(headers.get('webhook-id')).toBe(sent.headers['webhook-id']);
    expect([...headers.keys()].sort()).toEqual(
      Object.keys(sent.headers)
        .filter((name) => !['host', 'connection', 'content-length'].includes(name))
        .sort(),
    );
    for (const name of ['authorization', 'webhook-signature', 'webhook-timestamp'])
      expect(headers.get(name)).toBe('***');
  });

  it('returns nothing if there is no event', async () => {
    await start();
    expect(await call('GET', '$request')).toEqual([]);
  });

  it('returns an event in process, and none without a number or after its retention', async () => {
    await start();
    receiver.always({ kind: 'answer', status: 503 });
    await write(newName());
    await eventually('it fails', async () => ((await countsOf(app, id)).messageBatchesDeliveryAttempts ?? 0) > 0);
    const [, headers] = await shown(1);
    expect(headers.get('webhook-id')).toBe(receiver.request(0).headers['webhook-id']);
    const path = `/fhir/SvcTopicDestination/${id}/$request`;
    expect(await call('GET', '$request')).toEqual((await shown(1))[0]);
    expect([(await app.get(`${path}?number=2`)).status, (await app.get(`${path}?number=0`)).status]).toEqual([
      404, 400,
    ]);
    expect((await app.get('/fhir/SvcTopicDestination/none/$request?number=1')).status).toBe(404);
  });
});

describe('$retry', () => {
  it('ends the pause after a failure, and queued events arrive in order', async () => {
    await start();
    receiver.next({ kind: 'answer', status: 503, headers: { 'retry-after': '600' } });
    const names = [newName(), newName(), newName()];
    for (const name of names) await write(name);
    await eventually('it fails', async () => ((await countsOf(app, id)).messageBatchesDeliveryAttempts ?? 0) === 1);
    const { length } = receiver.requests;
    expect(await call('POST', '$retry')).toEqual([{ name: 'pauseEnded', valueBoolean: true }]);
    await delivered(app, id, 3);
    expect(receiver.requests.slice(length).flatMap(({ body }) => reference(body))).toEqual(
      names.map((name, index) => `${index + 1} Patient/${name}/_history/1`),
    );
    expect(await call('POST', '$retry')).toEqual([{ name: 'pauseEnded', valueBoolean: false }]);
  });

  it('does not shorten the pauses after further failures', async () => {
    await start();
    receiver.always({ kind: 'answer', status: 503, headers: { 'retry-after': '600' } });
    await write(newName());
    for (const failures of [1, 2]) {
      await eventually('it fails', async () => (await countsOf(app, id)).messageBatchesDeliveryAttempts === failures);
      if (failures === 1) await call('POST', '$retry');
    }
    const [one] = (await app.get(`/fhir/SvcTopicDestination/$overview?_id=${id}`)).json<{ parameter: Part[] }>()
      .parameter;
    expect(valueOf(one?.part, 'failuresInARow')).toBe(2);
    expect(Date.parse(String(valueOf(one?.part, 'nextAttempt'))) - Date.now()).toBeGreaterThan(500_000);
  });

  it('does not disturb an attempt in process', async () => {
    await start();
    receiver.always({ kind: 'hang' });
    await write(newName());
    await eventually('it is on its way', () => receiver.open === 1);
    expect(await call('POST', '$retry')).toEqual([{ name: 'pauseEnded', valueBoolean: false }]);
    expect([receiver.open, receiver.requests.length]).toEqual([1, 1]);
  });

  it('is 404 for an unknown destination, and refuses parameters', async () => {
    await start();
    expect((await app.send('POST', '/fhir/SvcTopicDestination/none/$retry')).status).toBe(404);
    expect((await app.send('POST', `/fhir/SvcTopicDestination/${id}/$retry?from=1`)).status).toBe(400);
  });
});

describe('$test', () => {
  const findings = async (query = ''): Promise<Record<string, unknown>> => {
    const result = await call('POST', `$test${query}`);
    const graded = result
      .filter(({ name }) => name === 'finding')
      .map(({ part }) => [String(valueOf(part, 'name')), valueOf(part, 'grade')]);
    return { grade: valueOf(result, 'grade'), ...(Object.fromEntries(graded) as Record<string, unknown>) };
  };

  it('sends a sample without events, counts nothing, and reports missing checks of the receiver', async () => {
    const secret = Buffer.alloc(32, 5).toString('base64');
    await start({ name: 'secret', valueString: secret });
    expect(await findings()).toEqual({
      grade: 'warn',
      answer: 'pass',
      time: 'pass',
      encryption: 'warn',
      repetition: 'pass',
      signature: 'warn',
    });
    expect(receiver.requests.map(({ body }) => reference(body))).toEqual([[], [], []]);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await countsOf(app, id)).toMatchObject({ messageBatchesDelivered: 0, messageBatchesDeliveryAttempts: 0 });
  });

  it('passes a receiver that refuses a wrong signature', async () => {
    await start({ name: 'secret', valueString: Buffer.alloc(32, 5).toString('base64') });
    receiver.next({ kind: 'answer', status: 200 }, { kind: 'answer', status: 409 }, { kind: 'answer', status: 401 });
    expect(await findings()).toMatchObject({ repetition: 'warn', signature: 'pass' });
  });

  it.each([
    ['a redirect', { kind: 'answer', status: 307, headers: { Location: '/elsewhere' } }, 'redirects are not followed'],
    ['an error', { kind: 'answer', status: 500 }, 'only 2xx'],
    ['no answer', { kind: 'hang' }, 'No answer within 1 s'],
    ['a closed connection', { kind: 'reset' }, 'was closed'],
  ] as const)('returns the grade fail for %s', async (_case, behavior, message) => {
    await start({ name: 'timeout', valueUnsignedInt: 1 });
    receiver.always(behavior);
    const result = await call('POST', '$test');
    expect(valueOf(result, 'grade')).toBe('fail');
    expect(JSON.stringify(result)).toContain(message);
    expect(receiver.requests.every(({ path }) => path === '/hook')).toBe(true);
  });

  it('refuses the same addresses as deliveries', async () => {
    await start();
    const result = await call('POST', `$test?endpoint=${encodeURIComponent('http://169.254.169.254/')}`);
    expect(JSON.stringify(result)).toContain('not allowed');
  });

  it.each(['ftp://x/', 'nowhere', 'http://u:p@x/'])('refuses the endpoint %s', async (endpoint) => {
    await start();
    const answer = await app.post(`/fhir/SvcTopicDestination/${id}/$test?endpoint=${encodeURIComponent(endpoint)}`, {
      resourceType: 'Parameters',
    });
    expect(answer.status).toBe(422);
  });
});
