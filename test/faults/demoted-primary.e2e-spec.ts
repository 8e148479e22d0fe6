import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { ADMIN_PASSWORD, type TestApp, type Sent, startTestApp } from '../../testing/test-app';
import { eventually } from '../../testing/eventually';
import { login } from '../../testing/world';

const PATIENT = { resourceType: 'Patient', id: 'p' };
const TRANSACTION = {
  resourceType: 'Bundle',
  type: 'transaction',
  entry: [{ resource: PATIENT, request: { method: 'PUT', url: 'Patient/p' } }],
};
const LOGIN = { grant_type: 'password', username: 'admin', password: ADMIN_PASSWORD, client_id: 'ward' };

/** PostgreSQL refuses writes with SQLSTATE 25006 on a standby, and if transactions are read-only by default. */
describe('O11: a server whose database has become read-only', () => {
  let app: TestApp;
  let operator: Client;
  let bearer: string;

  /** Allows or refuses writes on all connections of the server, which must reconnect. */
  async function setReadOnly(isReadOnly: boolean): Promise<void> {
    await operator.query('set default_transaction_read_only = off');
    const name = app.databaseUrl.split('/').at(-1) ?? '';
    await operator.query(`alter database ${name} set default_transaction_read_only = ${String(isReadOnly)}`);
    await operator.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    const status = isReadOnly ? 503 : 200;
    await eventually('the server has noticed', async () => (await health()).status === status, 20_000);
  }
  const health = async (): Promise<{ status: number; text: string }> => app.get('/health', { authorization: null });

  beforeAll(async () => {
    app = await startTestApp();
    operator = await app.connect();
    await app.put('/Client/ward', { grant_types: ['password'], auth: { password: { secret_required: false } } });
    await app.put('/Patient/p', PATIENT);
    ({ bearer } = await login(app, 'nurse'));
    await setReadOnly(true);
  });
  afterAll(() => app.close());

  it.each<[string, string, string, Sent]>([
    ['create', 'POST', '/Patient', { body: { resourceType: 'Patient' } }],
    ['update', 'PUT', '/Patient/p', { body: { ...PATIENT, active: true } }],
    ['deletion', 'DELETE', '/Patient/p', {}],
    ['conditional create', 'POST', '/Patient', { body: PATIENT, headers: { 'If-None-Exist': '_id=q' } }],
    ['transaction', 'POST', '/', { body: TRANSACTION }],
    ['login', 'POST', '/auth/token', { body: LOGIN, authorization: null }],
  ])('returns 503 with Retry-After for a %s', async (_what, method, path, sent) => {
    const { status, headers, text } = await app.send(method, path, sent);
    expect([status, headers.get('retry-after'), text]).toEqual([503, '5', expect.stringContaining('standby')]);
  });

  it.each(['/Patient/p', '/Patient?_id=p', '/Patient/p/_history', '/Patient/p/$everything'])(
    'returns 200 for GET %s',
    async (path) => {
      expect((await app.get(path, { authorization: bearer })).status).toBe(200);
    },
  );

  it('returns 503 from /health, with the reason', async () => {
    const { status, text } = await health();
    expect([status, JSON.parse(text)]).toMatchObject([
      503,
      { status: 'fail', description: expect.stringMatching(/standby/) },
    ]);
  });

  it('writes again after the promotion, without a restart', async () => {
    await setReadOnly(false);
    expect((await app.put('/Patient/p', { ...PATIENT, active: true })).status).toBe(200);
    expect((await app.get('/Patient/p')).json()).toMatchObject({ active: true });
  });
});
