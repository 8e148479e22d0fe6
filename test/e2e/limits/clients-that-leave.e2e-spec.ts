import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { eventually } from '../../../testing/eventually';
import { ROOT, startTestApp, type TestApp } from '../../../testing/test-app';

const patient = { resourceType: 'Patient', id: 'p1', gender: 'female', identifier: [{ value: 'x' }] };
const entry = [{ resource: patient, request: { method: 'PUT', url: 'Patient/p1' } }];

describe('clients that disconnect before the response', () => {
  let app: TestApp;
  let other: Client;

  beforeAll(async () => {
    app = await startTestApp();
    other = await app.connect();
    // A warm-up, so that prepared statements, caches and connections exist.
    await app.get('/fhir/Patient?gender=female');
  });
  afterAll(() => app.close());

  const waiting = async (): Promise<number> => {
    const { rows } = await other.query<{ count: string }>(
      `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return Number(rows[0]?.count);
  };

  it.each<[string, string, string, { body?: object; headers?: Record<string, string> }]>([
    ['a search', 'GET', '/fhir/Patient?gender=female', {}],
    ['a search with a limit', 'GET', '/fhir/Patient?gender=female&_timeout=40', {}],
    ['a search over types', 'GET', '/fhir?_type=Patient,Group&_tag=x', {}],
    ['a conditional create', 'POST', '/fhir/Patient', { body: patient, headers: { 'If-None-Exist': 'identifier=x' } }],
    ['a create', 'PUT', '/fhir/Patient/p1', { body: patient }],
    ['a transaction', 'POST', '/fhir', { body: { resourceType: 'Bundle', type: 'transaction', entry } }],
    ['a batch', 'POST', '/fhir', { body: { resourceType: 'Bundle', type: 'batch', entry: [...entry, ...entry] } }],
  ])(
    'S2: cause %s to be canceled in PostgreSQL, and nothing is stored',
    async (_what, method, path, { body, headers }) => {
      await other.query('begin; lock table search_token in access exclusive mode');
      const control = new AbortController();
      const answer = fetch(`${app.url}${path}`, {
        method,
        signal: control.signal,
        headers: { Authorization: ROOT, ...(body && { 'Content-Type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }).catch(() => 'left');
      await eventually('a statement waits for the lock', async () => (await waiting()) > 0);
      control.abort();
      expect(await answer).toBe('left');
      // Without a cancel request, the statement would wait for its lock timeout of 5 s.
      await eventually('no statement waits any more', async () => (await waiting()) === 0, 3_000);
      await delay(50);
      expect(await waiting()).toBe(0);
      await other.query('commit');
      expect((await app.get('/fhir/Patient/p1')).status).toBe(404);
      expect((await app.get('/fhir/Patient?_summary=count')).json()).toMatchObject({ total: 0 });
    },
  );
});
