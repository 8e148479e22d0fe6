import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { eventually } from '../../../testing/eventually';
import { basicHeader, type Sent, type TestApp, startTestApp } from '../../../testing/test-app';
import { login, type Person } from '../../../testing/world';
import { destination, newTopic } from '../../support/destinations';
import { TcpProxy } from '../../support/tcp-proxy';

const PATIENT = { resourceType: 'Patient', name: [{ family: 'Rivera' }], gender: 'female' };
const MERGE = { 'Content-Type': 'application/merge-patch+json' };
const HISTORY = {
  resource: { resourceType: 'SDCDocument', id: 'doc-1', status: 'completed' },
  user: { resourceType: 'User', id: 'admin' },
};

const rows = (methods: readonly string[], criteria: string): object => ({
  engine: 'matcho',
  matcho: { 'request-method': { $enum: methods } },
  criteria,
});

/** A write, and a text that it sends to the database. */
type Example = readonly [title: string, status: number, mark: string, send: () => readonly [string, string, Sent?]];

describe('a write returns its success even if the database connection breaks after COMMIT', () => {
  let database: ClonedDatabase;
  let proxy: TcpProxy;
  let app: TestApp;
  let limited: Person;
  let topic: string;

  beforeAll(async () => {
    database = await cloneDatabase('started');
    proxy = await TcpProxy.start(database.url);
    app = await startTestApp({ databaseUrl: proxy.url });
    // The criteria of the reads are not those of the writes, so only a statement can decide what an answer shows.
    const policies = [
      rows(['put', 'patch', 'delete', 'post'], 'Patient?gender=female'),
      rows(['get'], 'Patient?family:exact=Rivera'),
      { engine: 'matcho', matcho: { operation: { id: 'FhirBundle' } } },
    ];
    limited = await login(app, 'limited', { policies });
    topic = await newTopic(app, { resource: 'Basic' });
    for (const id of ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8']) await app.put(`/Patient/${id}`, PATIENT);
    await app.put('/SDCDocument/doc-1', { resourceType: 'SDCDocument', status: 'completed' });
    for (const id of ['t1', 't2', 't3']) await app.put(`/SvcTopicDestination/${id}`, destination(topic));
  });
  afterAll(async () => {
    await app.close();
    await proxy.stop();
    await database.drop();
  });
  afterEach(async () => {
    proxy.mend();
    await eventually('the database is back', async () => (await app.get('/Patient/x')).status === 404);
  });

  const byLimited = (sent: Sent = {}): Sent => ({ ...sent, authorization: limited.bearer });
  const patch = { body: { active: true }, headers: MERGE };
  const update = { body: { ...PATIENT, active: true } };
  const bundle = (type: string, id: string): Sent => ({
    body: {
      resourceType: 'Bundle',
      type,
      entry: [
        {
          request: { method: 'PATCH', url: `Patient/${id}` },
          resource: { resourceType: 'Binary', contentType: MERGE['Content-Type'], data: btoa('{"active":true}') },
        },
      ],
    },
    headers: { Prefer: 'return=representation' },
  });

  it.each<Example>([
    ['PUT', 200, 'p1', () => ['PUT', '/Patient/p1', byLimited(update)]],
    ['PATCH', 200, 'p2', () => ['PATCH', '/Patient/p2', byLimited(patch)]],
    ['conditional PATCH', 200, 'p3', () => ['PATCH', '/Patient?_id=p3', byLimited(patch)]],
    ['DELETE', 204, 'p4', () => ['DELETE', '/Patient/p4', byLimited()]],
    ['conditional DELETE', 204, 'p5', () => ['DELETE', '/Patient?_id=p5', byLimited()]],
    [
      'conditional create with a match',
      200,
      'p6',
      () => ['POST', '/Patient', byLimited({ body: PATIENT, headers: { 'If-None-Exist': '_id=p6' } })],
    ],
    ['batch', 200, 'p7', () => ['POST', '/', byLimited(bundle('batch', 'p7'))]],
    ['transaction', 200, 'p8', () => ['POST', '/', byLimited(bundle('transaction', 'p8'))]],
    [
      'POST of a type whose rule changes the response',
      201,
      'http://127.0.0.1:9/posted',
      () => ['POST', '/SvcTopicDestination', { body: destination(topic, {}, 'http://127.0.0.1:9/posted') }],
    ],
    [
      'PUT of a type whose rule changes the response',
      200,
      't1',
      () => ['PUT', '/SvcTopicDestination/t1', { body: destination(topic, { content: 'empty' }) }],
    ],
    [
      'PATCH of a type whose rule changes the response',
      200,
      't2',
      () => ['PATCH', '/SvcTopicDestination/t2', { body: { content: 'empty' }, headers: MERGE }],
    ],
    ['DELETE of a type whose rule changes the response', 200, 't3', () => ['DELETE', '/SvcTopicDestination/t3']],
    [
      'PATCH of the caller’s own User',
      200,
      'limited',
      () => ['PATCH', '/User/limited', { body: { active: true }, headers: MERGE }],
    ],
    [
      'RPC call',
      200,
      'doc-1',
      () => ['POST', '/rpc', { body: { method: 'svc.sdc.addendum/add-to-history', params: HISTORY } }],
    ],
    [
      'login',
      200,
      '"type":"password"',
      () => [
        'POST',
        '/auth/token',
        {
          authorization: basicHeader(limited.clientId, limited.clientSecret),
          body: { grant_type: 'password', username: 'limited', password: limited.password },
        },
      ],
    ],
  ])('%s', async (_title, status, mark, example) => {
    const [method, path, sent] = example();
    proxy.breakAfter('COMMIT', mark);
    const answer = await app.send(method, path, sent);
    expect([answer.text, answer.status, proxy.mend()]).toEqual([expect.any(String), status, true]);
  });
});
