import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { eventually } from '../support/eventually';
import { login, type Person } from '../support/people';
import { basicHeader, startTestApp, type TestApp } from '../support/test-app';

/** Of 8 connections, which the spec's server has, a caller's searches take 2 and its transactions 3. */
const FLOOD = 30;

describe('connections that dear requests of one caller hold', () => {
  let app: TestApp;
  let other: Client;
  let hostile: Person;
  let friend: Person;

  beforeAll(async () => {
    // The record of a login would be written by a statement that names all tables, so it would wait for the lock below.
    app = await startTestApp({ environment: { SVC_AUDIT: 'off' } });
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

  const waiting = async (): Promise<number> => {
    const { rows } = await other.query<{ count: string }>(
      `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
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
  ])('S2, S17: leave others their reads, searches, writes and logins: %s', async (_what, send) => {
    // Stands for statements that take long.
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
});
