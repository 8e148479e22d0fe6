import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { eventually } from '../../../testing/eventually';
import { login, type Person } from '../../../testing/world';
import { basicHeader, startTestApp, type TestApp } from '../../../testing/test-app';
import { destination } from '../../support/destinations';

/**
 * Concurrent requests of one caller, far more than its share. The server has 8 connections; the caller's searches may
 * use 2 of them, and its transactions 3.
 */
const FLOOD = 30;

describe('costly requests of one caller', () => {
  let app: TestApp;
  let other: Client;
  let hostile: Person;
  let friend: Person;

  beforeAll(async () => {
    // No audit: the statement that records a login names all tables, so it would wait for the lock below.
    // No deliveries, since they would wait for the locks too.
    app = await startTestApp({ environment: { SVC_AUDIT: 'off', SVC_DELIVERY: 'off' } });
    other = await app.connect();
    hostile = await login(app, 'hostile');
    friend = await login(app, 'friend');
    await app.put('/fhir/Observation/o1', { resourceType: 'Observation', status: 'final', code: { text: 'x' } });
    await app.put('/fhir/Patient/p1', { resourceType: 'Patient', id: 'p1', gender: 'female' });
  });
  afterAll(() => app.close());

  const tokenFor = ({ userId, password, clientId, clientSecret }: Person): ReturnType<TestApp['get']> =>
    app.post('/auth/token', new URLSearchParams({ grant_type: 'password', username: userId, password }).toString(), {
      authorization: basicHeader(clientId, clientSecret),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });

  /**
   * The number of statements that wait for a lock. Within a transaction, `pg_stat_activity` could not count them, since
   * it shows the connections as of its first read.
   */
  const waiting = async (): Promise<number> => {
    const { rows } = await other.query<{ count: string }>(
      `select count(*) from pg_locks join pg_database d on d.oid = database where datname = current_database() and not granted`,
    );
    return Number(rows[0]?.count);
  };

  it.each([
    ['searches', (n: number) => app.get(`/fhir/Observation?value-quantity=${n}`, { authorization: hostile.bearer })],
    [
      'sorted searches',
      (n: number) =>
        app.get(`/fhir/Observation?_sort=value-quantity,_id&_id=o1,o${n}`, { authorization: hostile.bearer }),
    ],
    [
      'conditional creates',
      (n: number) =>
        app.post(
          '/fhir/Observation',
          { resourceType: 'Observation', status: 'final', code: { text: 'x' } },
          { authorization: hostile.bearer, headers: { 'If-None-Exist': `value-quantity=${n}` } },
        ),
    ],
  ])('S2, S17: leave connections for reads, searches, writes and logins of others: %s', async (_what, send) => {
    // Searches wait for this lock, like slow statements.
    await other.query('begin; lock table search_number in access exclusive mode');
    let isOver = false;
    const again = async (n: number): Promise<void> => {
      while (!isOver) await send(n);
    };
    const flood = Promise.all(Array.from({ length: FLOOD }, (_, n) => again(n)));
    try {
      await eventually('some of them run', async () => (await waiting()) > 0);
      const answers: number[] = [];
      for (let n = 0; n < 3; n++) {
        answers.push((await app.get('/fhir/Patient/p1')).status);
        answers.push((await app.get('/fhir/Patient?gender=female&_timeout=20')).status);
        answers.push(
          (
            await app.put(`/fhir/Observation/o${n}`, {
              resourceType: 'Observation',
              status: 'final',
              code: { text: 'x' },
            })
          ).status,
        );
      }
      expect(answers.filter((status) => status !== 200 && status !== 201)).toEqual([]);
      expect((await tokenFor(friend)).status).toBe(200);
      expect(await waiting()).toBeLessThanOrEqual(3);
    } finally {
      isOver = true;
      await other.query('commit');
      await flood;
    }
  });

  const target = { id: 'listed', resourceType: 'SDCDocument' };
  const call = (method: string, params: object, authorization?: string): ReturnType<TestApp['post']> =>
    app.post(
      '/rpc',
      { method: `svc.sdc.addendum/${method}`, params },
      authorization === undefined ? {} : { authorization },
    );

  it.each([
    ['lists of addenda', 'addendum_entry', () => call('get-addendums', { target }, hostile.bearer)],
    ['checks of addenda', 'addendum_entry', () => call('verify', { target }, hostile.bearer)],
    [
      'histories of a type',
      'resource_history',
      () => app.get('/fhir/Patient/_history?_total=accurate', { authorization: hostile.bearer }),
    ],
    [
      'events of a destination',
      'delivery_attempt',
      () => app.get('/fhir/SvcTopicDestination/hook/$events', { authorization: hostile.bearer }),
    ],
    [
      'the status of a destination',
      'outbox_event',
      () => app.get('/fhir/SvcTopicDestination/hook/$status', { authorization: hostile.bearer }),
    ],
  ])('S11: %s use the share of connections of searches', async (_what, table, send) => {
    await call('add-to-history', {
      resource: { ...target, status: 'completed' },
      user: { id: 'u', resourceType: 'User' },
    });
    await app.put('/fhir/SvcTopicDestination/hook', destination('http://topics.example/none'));
    await other.query(`begin; lock table ${table} in access exclusive mode`);
    const sent = Array.from({ length: FLOOD }, () => send());
    try {
      await eventually('two of them wait', async () => (await waiting()) === 2);
      await delay(300);
      expect(await waiting()).toBe(2);
      expect((await app.get('/fhir/Patient/p1')).status).toBe(200);
    } finally {
      await other.query('commit');
    }
    for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
  });

  it('S10: reads of a page that is being sent use the share of searches, and release it when clients disconnect', async () => {
    const data = Buffer.alloc(100_000).toString('base64');
    for (let n = 0; n < 6; n++)
      await app.put(`/fhir/Binary/b${n}`, { resourceType: 'Binary', id: `b${n}`, contentType: 'x/y', data });
    let callers = new AbortController();
    const page = (bearer: string): Promise<number> =>
      fetch(`${app.url}/fhir/Binary?_count=6`, { headers: { authorization: bearer }, signal: callers.signal })
        .then((answer) => answer.text())
        .then(
          (text) => text.length,
          () => 0,
        );
    const pages = (bearer: string): Promise<number>[] => Array.from({ length: FLOOD }, () => page(bearer));
    /** The maximum number of waiting connections within some 300 ms. */
    const most = async (): Promise<number> => {
      const seen: number[] = [];
      for (let look = 0; look < 15; look++) seen.push(await delay(20).then(waiting));
      return Math.max(...seen);
    };
    // A search finds its page in the current versions. Afterwards it reads the texts of the page, which may come from
    // the history. So only the reads of texts wait for this lock.
    await other.query('begin; lock table resource_history in access exclusive mode');
    for (let round = 0; round < 3; round++) {
      callers = new AbortController();
      const floods = pages(hostile.bearer);
      await eventually('texts of one caller are read', async () => (await waiting()) === 2);
      expect(await most()).toBe(2);
      floods.push(...pages(friend.bearer));
      await eventually('texts of the other one, too', async () => (await waiting()) === 3);
      expect(await most()).toBe(3);
      expect((await app.get('/fhir/Patient/p1')).status).toBe(200);
      callers.abort();
      await Promise.all(floods);
      await eventually('none is read any more', async () => (await waiting()) === 0, 3_000);
    }
    await other.query('commit');
    callers = new AbortController();
    const whole = await Promise.all([hostile, hostile, friend].map(({ bearer }) => page(bearer)));
    expect(Math.min(...whole)).toBeGreaterThan(6 * data.length);
  });
});
