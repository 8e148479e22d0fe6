import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Client } from 'pg';
import { ServerStatusOperation } from '../../../src/server-status/server-status.operation';
import { eventually } from '../../../testing/eventually';
import { ROOT, startTestApp, type TestApp } from '../../../testing/test-app';
import { login } from '../../../testing/world';
import { countsOf, destination, newTopic } from '../../support/destinations';

interface Part {
  readonly name: string;
  readonly part?: readonly Part[];
  readonly [value: string]: unknown;
}
type Values = Readonly<Record<string, unknown>>;

const PATH = '/fhir/$server-status';
const CANARY = 'Zacharias-Canary';

describe('U5: $server-status', () => {
  let app: TestApp;
  let database: Client;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_SHUTDOWN_SECONDS: '1' } });
    database = await app.connect();
    const topic = await newTopic(app);
    await app.put('/fhir/SvcTopicDestination/stuck-hook', destination(topic));
    for (const id of ['p1', 'p2', 'p3']) await app.put(`/fhir/Patient/${id}`, { name: [{ family: CANARY }] });
    await eventually('an attempt fails', async () => {
      return ((await countsOf(app, 'stuck-hook')).messageBatchesDeliveryAttempts ?? 0) > 0;
    });
    await database.query('analyze resource');
  });
  afterAll(() => app.close());

  async function status(authorization?: string): Promise<readonly Part[]> {
    const answer = await app.get(PATH, authorization === undefined ? {} : { authorization });
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    return answer.json<{ parameter: Part[] }>().parameter;
  }
  const valuesOf = ({ part = [] }: Part): Values =>
    Object.fromEntries(
      part.map((one) => [one.name, one.part === undefined ? Object.values(one).at(-1) : valuesOf(one)]),
    );
  const one = (parts: readonly Part[], name: string): Values => {
    const found = parts.filter((part) => part.name === name);
    expect([name, found.length]).toEqual([name, 1]);
    return found.map(valuesOf)[0] ?? {};
  };

  it('returns health, processes, queues, Sessions, the database and its storage', async () => {
    await login(app, 'nurse', {});
    const parts = await status();
    expect(parts.map(({ name }) => name)).not.toContain('missing');
    expect(one(parts, 'health')).toEqual({
      databaseMilliseconds: expect.any(Number),
      status: 'pass',
      description: 'The server answers.',
    });
    expect(one(parts, 'server')).toMatchObject({ processes: 1, backgroundFailures: 0, version: expect.any(String) });
    expect(one(parts, 'connections')).toMatchObject({ size: 8, waiting: 0 });
    expect(one(parts, 'sessions')).toEqual({ active: 1 });
    expect(one(parts, 'delivery')).toEqual({
      ...{ destinations: 1, failing: 1, isHeld: false },
      ...{ queued: expect.any(Number), inProcess: expect.any(Number), oldestAgeSeconds: expect.any(Number) },
    });
    const { queued, inProcess } = one(parts, 'delivery') as Record<string, number>;
    expect((queued ?? 0) + (inProcess ?? 0)).toBe(3);
    expect(one(parts, 'database')).toMatchObject({ maxConnections: expect.any(Number), standbys: 0 });
    const storage = parts.find(({ name }) => name === 'storage')?.part ?? [];
    const tables = storage.filter(({ name }) => name === 'table').map(valuesOf);
    expect(tables).toHaveLength(10);
    expect(tables).toContainEqual(
      expect.objectContaining({ name: 'resource', rows: expect.any(Number), bytes: expect.any(Number) }),
    );
    const resources = storage.filter(({ name }) => name === 'resources').map(valuesOf);
    expect(resources).toContainEqual({ count: 3, type: 'Patient' });
  });

  it('counts requests by class, logins and denials', async () => {
    const { bearer, clientId, clientSecret } = await login(app, 'stranger', { policies: [] });
    const before = await status();
    await app.get('/fhir/Patient/p1');
    await app.get('/Patient/none');
    await app.get('/fhir/Patient/p1', { authorization: bearer });
    await app.post(
      '/auth/token',
      {
        ...{ grant_type: 'password', username: 'stranger', password: 'wrong' },
        client_id: clientId,
        client_secret: clientSecret,
      },
      { authorization: null },
    );
    const requestsOf = (parts: readonly Part[], name: string): Values =>
      parts
        .filter(({ name: of }) => of === 'requests')
        .map(valuesOf)
        .find((values) => values.class === name) ?? {};
    const more = (after: Values, earlier: Values, name: string): number =>
      Number(after[name]) - Number(earlier[name] ?? 0);
    await eventually('the answers are counted', async () => {
      const [after, earlier] = [requestsOf(await status(), 'read'), requestsOf(before, 'read')];
      return more(after, earlier, 'count') === 3 && more(after, earlier, 'refused') === 2;
    });
    const after = await status();
    expect(more(one(after, 'logins'), one(before, 'logins'), 'refused')).toBe(1);
    expect(more(one(after, 'logins'), one(before, 'logins'), 'ok')).toBe(0);
    expect(more(one(after, 'denials'), one(before, 'denials'), 'policy')).toBe(1);
    const read = after.find((part) => part.name === 'requests' && valuesOf(part).class === 'read');
    const { p50Seconds, p99Seconds, count } = valuesOf(read ?? { name: '' }) as Record<string, number>;
    expect([(p50Seconds ?? 0) > 0, (p99Seconds ?? 0) >= (p50Seconds ?? 1)]).toEqual([true, true]);
    const within = (read?.part ?? []).filter(({ name }) => name === 'within').map(valuesOf);
    expect(within.at(-1)).toEqual({ atMostSeconds: 30, count });
  });

  it('is denied without a policy, and to callers who are limited to rows', async () => {
    expect((await app.get(PATH, { authorization: null })).status).toBe(401);
    const { bearer } = await login(app, 'watcher', { policies: [] });
    expect((await app.get(PATH, { authorization: bearer })).status).toBe(403);
    const policy = { engine: 'allow', link: [{ resourceType: 'User', id: 'watcher' }] };
    await app.put('/AccessPolicy/watcher', { ...policy, criteria: ['Patient?_id=p1'] });
    expect((await app.get(PATH, { authorization: bearer })).status).toBe(403);
    await app.put('/AccessPolicy/watcher', {
      engine: 'allow',
      link: [{ resourceType: 'Operation', id: 'FhirServerStatus' }],
    });
    expect((await status(bearer)).length).toBeGreaterThan(8);
    expect((await app.get('/fhir/Patient/p1', { authorization: bearer })).status).toBe(403);
  });

  it('contains nothing of a patient or a caller, no endpoint and no topic', async () => {
    const { text } = await app.get(PATH);
    for (const secret of [CANARY, 'http', 'topics.example', 'stuck-hook', 'stranger', 'p1"'])
      expect([secret, text]).toEqual([secret, expect.not.stringContaining(secret)]);
  });

  it('runs once for concurrent requests, also when the first client disconnects', async () => {
    const execute = jest.spyOn(app.app.get(ServerStatusOperation, { strict: false }), 'execute');
    const asked = (times: number): Promise<unknown> =>
      eventually(`${times} have asked`, () => execute.mock.calls.length === times);
    const texts = await whileLocked(async () => {
      const leaving = new AbortController();
      const first = fetch(app.url + PATH, { headers: { Authorization: ROOT }, signal: leaving.signal }).catch(
        () => undefined,
      );
      await asked(1);
      const others = Array.from({ length: 5 }, async () => (await app.get(PATH)).text);
      leaving.abort();
      await first;
      return Promise.all(others);
    }, asked(6));
    execute.mockRestore();
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).not.toContain('missing');
  });

  it('names the parts that could not be read in time, and returns the rest', async () => {
    const parts = await whileLocked(() => status());
    expect(parts.filter(({ name }) => name === 'missing')).toEqual([{ name: 'missing', valueCode: 'delivery' }]);
    expect(parts.map(({ name }) => name)).toEqual(expect.arrayContaining(['server', 'sessions', 'storage']));
  });

  it('refuses unknown parameters and other methods', async () => {
    expect((await app.get(`${PATH}?_count=1`)).status).toBe(400);
    expect((await app.post(PATH, {})).status).toBe(405);
  });

  /** Blocks reads of the queues until the work is done, or until `over` resolves. */
  async function whileLocked<T>(work: () => Promise<T>, over?: Promise<unknown>): Promise<T> {
    await database.query('begin; lock table destination_runtime in access exclusive mode');
    const working = work();
    await (over ?? working);
    await database.query('rollback');
    return working;
  }
});
