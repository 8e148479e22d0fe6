import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../testing/eventually';
import { basicHeader, encryptionKey, ROOT_SECRET } from '../../../testing/test-app';
import { cloneDatabase, type ClonedDatabase } from '../../../testing/test-databases';
import { WebhookReceiver } from '../../../testing/webhook-receiver';
import { ServerProcess } from '../../support/server-process';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const TRACEPARENT = { traceparent: `00-${TRACE}-${CALLER}-01` };

interface Span {
  readonly span: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: object;
  readonly events: readonly object[];
}

describe('O7: traces of OpenTelemetry', () => {
  let database: ClonedDatabase;
  let server: ServerProcess;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    database = await cloneDatabase('started');
    receiver = await WebhookReceiver.start();
    server = await ServerProcess.start({
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      SVC_ENCRYPTION_KEY: encryptionKey(),
      SVC_PROCESSES: '1',
      NODE_OPTIONS: `--require ${resolve('test/support/print-spans.cjs')}`,
    });
  }, 90_000);
  afterAll(async () => {
    await server.end('SIGTERM');
    await receiver.stop();
    await database.drop();
  });

  const put = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
    const response = await fetch(`${server.url}/fhir/${path}`, {
      method: 'PUT',
      body: JSON.stringify(body),
      headers: {
        'Content-Type': 'application/json',
        Authorization: basicHeader('root', ROOT_SECRET),
        ...headers,
      },
    });
    await response.text();
    return response.status;
  };
  /** The complete lines; the last one may still arrive. */
  const lines = (): string[] => server.output.split('\n').slice(0, -1);
  const spans = (): Span[] =>
    lines()
      .filter((line) => line.startsWith('{"span":'))
      .map((line) => JSON.parse(line) as Span);
  const writes = (): Span[] => spans().filter(({ span }) => span === 'PUT /fhir/:type/:id');
  const attempts = (destination: string): Span[] =>
    spans().filter((span) => span.span === 'deliver' && span.attributes['svc.destination'] === destination);
  const store = async (id: string, resource: string): Promise<void> => {
    const url = `http://svc.example/topics/${id}`;
    await put(`SvcSubscriptionTopic/${id}`, { url, status: 'active', trigger: [{ resource }] });
    const destination = {
      meta: { profile: ['http://svc.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
      kind: 'webhook-at-least-once',
      topic: url,
      parameter: [{ name: 'endpoint', valueUrl: receiver.url }],
    };
    expect(await put(`SvcTopicDestination/${id}`, destination)).toBe(201);
  };

  it('have a request span as a child of the traceparent, and statement spans as its children', async () => {
    expect(await put('Patient/p?_pretty=true', { name: [{ family: 'Canary' }] }, TRACEPARENT)).toBe(201);
    const request = await eventually('the span of the request', () =>
      writes().find(({ traceId }) => traceId === TRACE),
    );
    expect(request.parent).toBe(CALLER);
    expect(request.attributes).toEqual({
      'http.request.method': 'PUT',
      'http.route': '/fhir/:type/:id',
      'http.response.status_code': 201,
    });
    const statements = spans().filter(({ parent }) => parent === request.spanId);
    expect(statements.map(({ span }) => span)).toEqual(
      expect.arrayContaining(['BEGIN', 'resource-read-for-update', 'COMMIT']),
    );
    const line = await eventually('the access line', () =>
      lines().find((text) => text.includes('"event":"request"') && text.includes('201')),
    );
    expect(JSON.parse(line)).toMatchObject({ traceId: TRACE });
  });

  it('have a child span for each delivery attempt, including retries, and the webhook receives its id', async () => {
    receiver.next({ kind: 'answer', status: 503 });
    await store('followed', 'Basic');
    const traceparent = `00-${TRACE.replace('4', '5')}-${CALLER}-01`;
    expect(await put('Basic/b', { code: { text: 'a' } }, { traceparent })).toBe(201);
    const made = await eventually('two attempts', () => attempts('followed').length === 2 && attempts('followed'));
    const request = writes().find(({ traceId }) => traceId === TRACE.replace('4', '5'));
    expect(made.map(({ parent }) => parent)).toEqual([request?.spanId, request?.spanId]);
    expect(made.map(({ attributes }) => attributes)).toEqual([
      { 'svc.destination': 'followed', 'messaging.batch.message_count': 1, 'error.type': 'failed' },
      { 'svc.destination': 'followed', 'messaging.batch.message_count': 1 },
    ]);
    expect(made.map(({ events }) => events)).toEqual([[], []]);
    expect(receiver.requests.map(({ headers }) => headers.traceparent)).toEqual(
      made.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
    );
  });

  it('link a delivery attempt to each request whose events it may contain', async () => {
    receiver.next({ kind: 'held' });
    await store('linked', 'Flag');
    const flag = { status: 'active', code: { text: 'a' }, subject: { reference: 'Patient/p' } };
    const traced = (id: string): Promise<number> =>
      put(`Flag/${id}`, flag, { traceparent: `00-${id.padEnd(32, '0')}-${CALLER}-01` });
    expect(await traced('a1')).toBe(201);
    await eventually('an attempt waits', () => receiver.open === 1);
    for (const id of ['a2', 'a3']) await traced(id);
    receiver.release();
    const made = await eventually('both attempts', () => attempts('linked').length === 2 && attempts('linked'));
    const spanOf = (id: string): string | undefined => writes().find(({ traceId }) => traceId.startsWith(id))?.spanId;
    const [first, second, third] = ['a1', 'a2', 'a3'].map(spanOf);
    expect(made.map(({ parent, links }) => [parent, links])).toEqual([
      [first, []],
      [second, [third]],
    ]);
  });
});
