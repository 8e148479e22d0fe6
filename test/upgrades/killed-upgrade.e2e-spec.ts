import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { CORE } from '../../src/platform/database/schema/all-migrations';
import { migrate } from '../../src/platform/database/schema/migrate';
import { digestOf } from '../../src/platform/database/migration';
import { type ClonedDatabase } from '../../testing/test-databases';
import { eventually } from '../../testing/eventually';
import { restoreKept } from './kept-database';

/**
 * The tables that the upgrade of 0.1.0 waits for at three points: in the first migration, between steps of one
 * migration, and in the last one.
 */
const STOPS = ['outbox_event', 'search_number', 'live_search_parameter'];

describe('an upgrade of release 0.1.0 that is killed', () => {
  let database: ClonedDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await restoreKept('0.1.0');
    client = new Client({ connectionString: database.url });
    await client.connect();
  }, 60_000);
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  /** Migrates in a separate process, which is killed while it waits for the table. */
  async function killAt(table: string): Promise<void> {
    const script = `require(${JSON.stringify(join(process.env.TEST_BUILD ?? '', 'src/platform/database/schema/migrate.js'))}).migrate(process.argv[1])`;
    // The lock has its own connection. If the client that observes held it, its queries would give the transaction a
    // snapshot, and a concurrent index build waits for transactions with a snapshot.
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    await holder.query(`begin; lock table ${table} in access share mode`);
    const child = spawn(process.execPath, ['-e', script, database.url], { stdio: 'ignore' });
    await eventually(`the migration waits for ${table}`, async () => {
      if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}`);
      const { rows } = await client.query('select from pg_locks where not granted and relation = $1::regclass', [
        table,
      ]);
      return rows.length > 0;
    });
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await holder.end();
    // PostgreSQL ends the session after its current statement.
    await eventually('the session is over', async () => {
      const { rows } = await client.query(`select from pg_locks where locktype = 'advisory' and objid = 4713590`);
      return rows.length === 0;
    });
  }

  it('O6: resumes after a kill at each of three points', async () => {
    for (const table of STOPS) await killAt(table);
    await migrate(database.url);
    const { rows } = await client.query('select name, digest from schema_migration order by id');
    expect(rows).toEqual(CORE.migrations.map((migration) => ({ name: migration.name, digest: digestOf(migration) })));
    expect((await client.query('select from pg_index where not indisvalid')).rows).toEqual([]);
  }, 60_000);
});
