import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { BackgroundTasks } from '../../../src/platform/background/background-tasks';
import { type TestApp, startTestApp } from '../../../testing/test-app';

/** More rows than one statement of any sweep deletes. */
const ROWS = 12_000;

const INSERTS = [
  [
    'sweep of failed logins',
    'credential_failure',
    `insert into credential_failure (key, failures, expires_at, blocked_until)
      select int4send(n), 1, clock_timestamp(), '-infinity' from generate_series(1, $1::integer) n`,
  ],
  [
    'sweep of links',
    'session_link',
    `insert into session_link (token_hash, session_id, target, expires_at)
      select int4send(n), 's', 't', clock_timestamp() from generate_series(1, $1::integer) n`,
  ],
  [
    'sweep of kept RPC calls',
    'rpc_kept_call',
    `insert into rpc_kept_call (call_hash, expires_at, digest, caller)
      select int4send(n), clock_timestamp(), '', 'busy' from generate_series(1, $1::integer) n`,
  ],
  [
    'sweep of page lists',
    'everything_list',
    `with lists as (
        insert into everything_list (list_id, expires_at, total, size, caller, patient_id)
        select gen_random_uuid(), clock_timestamp(), 1, 1, 'busy', 'p1' from generate_series(1, $1::integer / 100) n
        returning list_id
      ) insert into everything_entry (list_id, position, version, bytes, type, id, parameters)
      select list_id, 0, 1, 1, 'Patient', 'p1', '{}' from lists`,
  ],
] as const;

describe('A sweep', () => {
  let app: TestApp;
  let database: Client;

  beforeAll(async () => {
    app = await startTestApp();
    database = await app.connect();
  });
  afterAll(() => app.close());

  it.each(INSERTS)('(%s) deletes all expired rows, however many there are', async (task, table, insert) => {
    await database.query(insert, [ROWS]);
    await app.app.get(BackgroundTasks).wake(task);
    expect((await database.query(`select from ${table}`)).rowCount).toBe(0);
    expect((await database.query('select from everything_entry')).rowCount).toBe(0);
  });
});
