import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { SESSION_OWNER_LOCK_CLASS } from '../../../src/platform/database/advisory-locks';
import { type TestApp, type Received, startTestApp } from '../../../testing/test-app';
import { eventually } from '../../../testing/eventually';

const PASSWORD = 'a long password';

describe('a login reads its User and Client after it locked them', () => {
  let servers: readonly [TestApp, TestApp];
  let sql: Client;

  beforeAll(async () => {
    const first = await startTestApp();
    servers = [first, await startTestApp({ databaseUrl: first.databaseUrl })];
    sql = await first.connect();
  });
  afterAll(async () => {
    await servers[1].close();
    await servers[0].close();
  });

  beforeEach(async () => {
    await servers[0].put('/Client/ward', { grant_types: ['password'] });
    await servers[0].put('/User/nurse', { userName: 'nurse', password: PASSWORD });
    expect((await login(1)).status).toBe(200);
  });
  afterEach(() => sql.query('rollback'));

  const login = (server: 0 | 1): Promise<Received> =>
    servers[server].post(
      '/auth/token',
      { grant_type: 'password', client_id: 'ward', username: 'nurse', password: PASSWORD },
      { authorization: null },
    );

  const holdOwner = async (owner: string): Promise<void> => {
    await sql.query('begin');
    await sql.query(`select pg_advisory_xact_lock(${SESSION_OWNER_LOCK_CLASS}, hashtext($1))`, [owner]);
  };
  const waitFor = (waiting: number): Promise<true> =>
    eventually(`${waiting} wait for an owner`, async () => {
      const { rowCount } = await sql.query(
        `select from pg_locks where locktype = 'advisory' and classid = ${SESSION_OWNER_LOCK_CLASS} and not granted
          and database = (select oid from pg_database where datname = current_database())`,
      );
      return rowCount === waiting;
    });

  /** Waits until transactions wait for the row that `sql` has locked. */
  const waitForRows = (waiting: number): Promise<true> =>
    eventually(`${waiting} wait for a row`, async () => {
      const { rowCount } = await sql.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rowCount === waiting;
    });

  const liveSessions = async (): Promise<number> =>
    (await servers[0].get('/Session?user=User/nurse&active=true')).json<{ total: number }>().total;

  it.each([
    ['User/nurse', { userName: 'nurse', inactive: true }, 400, 'User is inactive'],
    ['User/nurse', { userName: 'nurse', password: 'another password' }, 400, 'Wrong username or password'],
    ['Client/ward', { grant_types: ['password'], active: false }, 401, 'Client authentication failed'],
  ])('so it waits for a change of %s to %j, and is refused', async (owner, body, status, description) => {
    await holdOwner(owner);
    const change = servers[0].put(`/${owner}`, body);
    await waitFor(1);
    const late = login(1);
    await waitFor(2);
    await sql.query('commit');
    expect((await change).status).toBe(200);
    const refused = await late;
    expect([refused.status, refused.json<{ error_description: string }>().error_description]).toEqual([
      status,
      description,
    ]);
    expect(await liveSessions()).toBe(0);
  });

  it('so a deletion that waits for a login closes its Session', async () => {
    await holdOwner('User/nurse');
    const early = login(1);
    await waitFor(1);
    const deletion = servers[0].delete('/User/nurse');
    await waitFor(2);
    await sql.query('commit');
    const [{ status, text }] = await Promise.all([early, deletion]);
    expect(status).toBe(200);
    const { access_token: token } = JSON.parse(text) as { access_token: string };
    expect((await servers[1].get('/auth/userinfo', { authorization: `Bearer ${token}` })).status).toBe(401);
  });

  it.each<[string, object]>([
    ['deactivated', { userName: 'nurse', inactive: true }],
    ['given another password', { userName: 'nurse', password: 'another password' }],
  ])('so a User can be %s while one of its Sessions is being deleted', async (_change, body) => {
    const { entry } = (await servers[0].get('/Session?user=User/nurse&active=true')).json<{
      entry: readonly [{ resource: { id: string } }];
    }>();
    const { id } = entry[0].resource;
    await sql.query('begin');
    await sql.query(`select from resource where type = 'Session' and id = $1 for update`, [id]);
    const deletion = servers[0].delete(`/Session/${id}`);
    await waitForRows(1);
    const change = servers[1].put('/User/nurse', body);
    await waitForRows(2);
    await sql.query('commit');
    expect([(await deletion).status, (await change).status]).toEqual([200, 200]);
    expect(await liveSessions()).toBe(0);
  });

  it('so a concurrent write of another User does not fail it', async () => {
    await holdOwner('User/nurse');
    const late = login(1);
    await waitFor(1);
    expect((await servers[0].put('/User/other', { userName: 'other' })).status).toBeLessThan(300);
    await sql.query('commit');
    expect((await late).status).toBe(200);
    expect(await liveSessions()).toBeGreaterThan(0);
  });

  it('so both servers return the current User and Roles in userinfo', async () => {
    const shown = async (server: 0 | 1): Promise<object> => {
      const { access_token: token, userinfo } = (await login(server)).json<{
        access_token: string;
        userinfo: object;
      }>();
      const asked = await servers[server].get('/auth/userinfo', { authorization: `Bearer ${token}` });
      expect(asked.json<object>()).toEqual(userinfo);
      const { displayName, role = [] } = userinfo as { displayName?: string; role?: { name: string }[] };
      return { displayName, roles: role.map(({ name }) => name) };
    };
    expect(await shown(1)).toEqual({ displayName: undefined, roles: [] });
    await servers[0].put('/User/nurse', { userName: 'nurse', displayName: 'Nurse' });
    await servers[0].put('/Role/r1', { name: 'ward', user: { resourceType: 'User', id: 'nurse' } });
    expect([await shown(0), await shown(1)]).toEqual(Array(2).fill({ displayName: 'Nurse', roles: ['ward'] }));
    await servers[1].delete('/Role/r1');
    expect([await shown(0), await shown(1)]).toEqual(Array(2).fill({ displayName: 'Nurse', roles: [] }));
  });
});
