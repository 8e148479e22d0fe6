import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ContextLogger } from '../../../src/platform/logging/context-logger';
import { RequestContext } from '../../../src/platform/request/request-context';
import { eventually } from '../../../testing/eventually';
import { login, type Person } from '../../../testing/world';
import { startTestApp, type TestApp } from '../../../testing/test-app';

interface Line {
  readonly level: string;
  readonly context: string;
  readonly requestId: string;
  readonly correlationId?: string;
  readonly message: Readonly<Record<string, unknown>>;
}

let app: TestApp;
let quiet: TestApp;
let nurse: Person;
const written: string[] = [];

beforeAll(async () => {
  app = await startTestApp({ environment: { SVC_LOG_LEVEL: 'log' } });
  quiet = await startTestApp({
    databaseUrl: app.databaseUrl,
    environment: { SVC_LOG_LEVEL: 'log', SVC_ACCESS_LOG: 'off' },
  });
  app.app.useLogger(new ContextLogger('log', app.app.get(RequestContext)));
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  nurse = await login(app, 'nurse');
  await app.put('/fhir/Patient/p', { name: [{ family: 'Canary' }] });
});
afterAll(async () => {
  jest.restoreAllMocks();
  await quiet.close();
  await app.close();
});

/** The access line of the request with this id. */
const lineOf = (id: string): Promise<Line> =>
  eventually(`the line of ${id}`, () =>
    written.map((text) => JSON.parse(text) as Line).find((line) => line.requestId === id && line.context === 'Access'),
  );
const as = (id: string): Readonly<Record<string, string>> => ({ 'X-Request-Id': id });

describe('O7: the access line of a request', () => {
  it('has route, status, time, bytes, caller and request ids', async () => {
    const { text } = await app.get('/fhir/Patient/p?_pretty=true', {
      authorization: nurse.bearer,
      headers: { ...as('read'), 'X-Correlation-Id': 'order-1' },
    });
    const { level, correlationId, message } = await lineOf('read');
    expect([level, correlationId]).toEqual(['log', 'order-1']);
    expect(message).toEqual({
      event: 'request',
      method: 'GET',
      route: '/fhir/:type/:id',
      status: 200,
      milliseconds: expect.any(Number),
      bytes: expect.any(Number),
      user: 'nurse',
      client: nurse.clientId,
    });
    expect(message.bytes).toBeGreaterThan(text.length);
    expect(message.milliseconds).toBeGreaterThan(0);
  });

  it.each([
    ['GET', '/fhir/Patient?family=Canary', '/fhir/:type', 200],
    ['GET', '/Patient/p/$everything', '/:type/:id/$everything', 200],
    ['GET', '/fhir/Patient/p/%24everything', '/fhir/:type/:id/$everything', 200],
    ['GET', '/fhir/Patient/p/$canary', '/fhir/:type/:id/$:code', 404],
    ['GET', '/fhir/Canary/canary', '/fhir/:type/:id', 404],
    ['GET', '/canary/canary/canary/canary/canary', 'none', 404],
    ['DELETE', '/fhir', '/fhir', 405],
    ['GET', '/health', '/health', 200],
  ])('has the route template, not the path: %s %s is logged as %s', async (method, path, route, status) => {
    const id = `template-${method}-${path.replace(/\W/g, '.')}`;
    await app.send(method, path, { headers: as(id) });
    const { message } = await lineOf(id);
    expect(message).toMatchObject({ method, route, status });
    expect(JSON.stringify(message)).not.toMatch(/canary/i);
  });

  it('names the user and client of a granted token request, and nobody for a refused one', async () => {
    const { userId, password, clientId, clientSecret } = nurse;
    const body = {
      ...{ grant_type: 'password', client_id: clientId, client_secret: clientSecret },
      ...{ username: userId, password },
    };
    await app.post('/auth/token', body, { authorization: null, headers: as('granted') });
    await app.post('/auth/token', { ...body, password: 'wrong' }, { authorization: null, headers: as('refused') });
    expect((await lineOf('granted')).message).toMatchObject({ status: 200, user: 'nurse', client: clientId });
    expect(Object.keys((await lineOf('refused')).message)).not.toContain('user');
  });

  it('is written once for a Bundle, whatever its number of entries', async () => {
    const entry = Array.from({ length: 3 }, () => ({ request: { method: 'GET', url: 'Patient/p' } }));
    await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry }, { headers: as('batch') });
    await lineOf('batch');
    await app.get('/fhir/Patient/p', { headers: as('after-it') });
    await lineOf('after-it');
    expect(written.filter((text) => text.includes('"requestId":"batch"'))).toHaveLength(1);
  });

  it('says that the client disconnected before the answer', async () => {
    const other = await app.connect();
    await other.query('begin; lock table resource in access exclusive mode');
    const leaving = new AbortController();
    const left = fetch(`${app.url}/fhir/Patient`, {
      signal: leaving.signal,
      headers: { ...as('left'), Authorization: nurse.bearer },
    }).catch(() => 'left');
    await eventually('the search waits', async () => {
      const { rowCount } = await other.query(
        `select from pg_locks join pg_stat_activity using (pid)
          where relation = 'resource'::regclass and not granted and datname = current_database()`,
      );
      return (rowCount ?? 0) > 0;
    });
    leaving.abort();
    expect(await left).toBe('left');
    expect((await lineOf('left')).message).toMatchObject({ status: 499, isCut: true, bytes: 0 });
    await other.query('rollback');
  });

  it('is not written with SVC_ACCESS_LOG=off', async () => {
    await quiet.get('/fhir/Patient/p', { headers: as('quiet') });
    await app.get('/fhir/Patient/p', { headers: as('loud') });
    await lineOf('loud');
    expect(written.filter((text) => text.includes('"requestId":"quiet"'))).toEqual([]);
  });
});
