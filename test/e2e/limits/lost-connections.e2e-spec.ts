import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { eventually } from '../../../testing/eventually';
import { ADMIN_PASSWORD, type TestApp, type Sent, startTestApp } from '../../../testing/test-app';

const ROUNDS = 100;
const MOST_ROUNDS = 2_000;
const PATIENT = { resourceType: 'Patient' };
const DOCUMENT = { resourceType: 'SDCDocument', id: 'd1', status: 'completed' };
const NOTE = {
  user: { resourceType: 'User', id: 'admin' },
  target: { resourceType: 'SDCDocument', id: 'd1' },
  text: 'A note',
};
const TRANSACTION = {
  resourceType: 'Bundle',
  type: 'transaction',
  entry: [{ resource: PATIENT, request: { method: 'POST', url: 'Patient' } }],
};
const LOGIN = { grant_type: 'password', username: 'admin', password: ADMIN_PASSWORD, client_id: 'ward' };

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

const REQUESTS: readonly [title: string, method: string, path: string, sent: Sent, status: number][] = [
  ['create', 'POST', '/Patient', { body: PATIENT }, 201],
  ['conditional create', 'POST', '/Patient', { body: PATIENT, headers: { 'If-None-Exist': '_id=p1' } }, 200],
  ['read', 'GET', '/Patient/p1', {}, 200],
  ['search', 'GET', '/Patient?_id=p1', {}, 200],
  ['search by form', 'POST', '/Patient/_search', { body: '_id=p1', headers: FORM }, 200],
  ['transaction', 'POST', '/', { body: TRANSACTION }, 200],
  ['$everything', 'GET', '/Patient/p1/$everything', {}, 200],
  ['RPC call', 'POST', '/rpc', { body: { method: 'svc.sdc.addendum/add-note', params: NOTE } }, 200],
  ['login', 'POST', '/auth/token', { body: LOGIN, authorization: null }, 200],
];

describe('O5: while PostgreSQL closes the connections of the server', () => {
  let app: TestApp;
  let operator: Client;
  const statuses = new Map<string, Set<number>>();

  beforeAll(async () => {
    app = await startTestApp();
    operator = await app.connect();
    const client = { grant_types: ['password'], auth: { password: { secret_required: false } } };
    for (const [path, body] of [
      ['/Client/ward', client],
      ['/Patient/p1', PATIENT],
      ['/SDCDocument/d1', DOCUMENT],
    ] as const)
      expect([path, (await app.put(path, body)).status]).toEqual([path, 201]);
    let isOver = false;
    const clients = REQUESTS.map(async ([title, method, path, sent]) => {
      const seen = new Set<number>();
      statuses.set(title, seen);
      while (!isOver) seen.add((await app.send(method, path, sent)).status);
    });
    const allWereRefused = (): boolean => REQUESTS.every(([title]) => statuses.get(title)?.has(503));
    // On a busy machine, 100 rounds are over before each kind of request has lost a connection.
    for (let round = 0; round < ROUNDS || (round < MOST_ROUNDS && !allWereRefused()); round++) {
      await operator.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
      await delay(10);
    }
    await eventually('all are answered again', () =>
      REQUESTS.every(([title, , , , status]) => statuses.get(title)?.has(status)),
    );
    isOver = true;
    await Promise.all(clients);
  }, 60_000);
  afterAll(() => app.close());

  it.each(REQUESTS)(
    '%s: succeeds or returns 503, and an unread body is never treated as an empty one',
    (title, _method, _path, _sent, status) => {
      expect([...(statuses.get(title) ?? [])].sort()).toEqual([status, 503]);
    },
  );
});
