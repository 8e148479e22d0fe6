import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { CORE } from '../../../src/platform/database/schema/all-migrations';
import { migrate, planMigrations } from '../../../src/platform/database/schema/migrate';
import { lockHolder } from '../../../src/platform/database/schema/other-sessions';
import { digestOf, indexConcurrently, tablesMadeBy } from '../../../src/platform/database/migration';
import { indexLoginNamesByLowerCase } from '../../../src/platform/database/migrations/1795000000220-index-login-names-by-lower-case';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { eventually } from '../../../testing/eventually';
import { databaseUrl, dropDatabase, runStatement } from '../../../testing/databases';

/** Digests of the released migrations, in order. A release adds lines; existing lines never change. */
const RELEASED = {
  '0.1.0': {
    CreateResourceStore1795000000000: '810282515ea882282d886f5c3c3874a16c6a5e2e6f576841e00ab3dc5807334f',
    CreateCredentials1795000000001: 'c69710f2b534f1896baec66d700c747b0251768292fd3f7896636ebb6572852b',
    CreateAddendum1795000000002: 'c029b43490f0e82d5b51a601a3323f039faacce1468ab732d56389d78feeef94',
    CreateDelivery1795000000003: '90d7f8e22d616626b2b16e09309602fd1e9f89fdf20693c86eddaf1e5ef4e733',
    IndexHistoryByTime1795000000005: '72859527a05a228c871b3c95432ffa2bd0e523707f69cadf2ef4fb17eff10362',
    CreateLiveSearchParameters1795000000006: '3e6e752813bcf7bb4f58afb02dad2d21ce50a896217abf5fd2a50759557eb958',
    CreateAccessDenials1795000000007: '9d2554ae6c1273c6d244067f8ad018d6852b65cf881d97fce013b5ce1ac2f574',
    CreateCredentialFailure1795000000010: '29bbfefeff6f4c88def08caabd51475ace4e77a0072ad88f56f56cc341819b00',
    CreateEverythingList1795000000012: '62527adf7fd4f65f6d05852ba22ed1e8094e4412f8fec88824b5808cb59d6e1f',
  },
  '0.2.0': {
    ReplaceQueueFloors1795000000100: '1ba094c220fb889eb84bf446659eb92a3fd1ae775a979dbe0498d75849fe4687',
    KeepTheOriginOfBatches1795000000101: 'a99e122f9c107f6515c1fefa58faa58e92f82657824859c785480bd9fa877d45',
    CreateDeliveryGeneration1795000000102: 'dd03c54e037e5bda2c3e3962e564ac621712303bc4bcfcd23babe078c58e0ca6',
    BoundTheSearchForOpenBatches1795000000103: '246de2c4acad20e134bd060b1c97fb645ab74338d18c3165dc2d86ff358977db',
    DropSuspectDestinations1795000000110: 'bd775dcdd027225330319f74653a0bd5c7d3b8967e16cc316cd55774ccd8589a',
    IndexVersionsByTransaction1795000000120: '2dd66414092ae6fe4af2bb3ee91e24bd6a6f334385bde1bf1e7c7351b2df9df7',
    KeySearchIndexRows1795000000200: 'be829360a61365998790264f3299b7d97f3923c9da10209c86f228c612a24b4a',
    IdentifyDeliveryAttempts1795000000201: 'ae4282b6e14dfb25c42a734401a41d8b98a6ee55df35e0ba67d579801f667377',
    IndexLoginNamesByLowerCase1795000000220: 'f3de524b9530ca8ba1fecd8751d66a098890d6a13ef59e444d28da3898affc98',
    MaskQueriesOfEndpoints1795000000300: 'c1d128cb81361338597f24d5e168a92401911ddcd246d57070b1eb71f70da875',
    KeepParameterStates1795000000320: '1adbbb16d1f59e1160f8c45bcd5731524b3ac77b97a9f38571c8da7c74084fc4',
  },
};

const released = Object.values(RELEASED).flatMap((digests) => Object.entries(digests));
/** Number of migrations in 0.1.0. */
const OF_0_1_0 = Object.keys(RELEASED['0.1.0']).length;
const FIRST = CORE.migrations[0]?.name ?? '';

describe('the list of migrations', () => {
  it('O6: begins with the released ones, whose SQL has not changed', () => {
    const found = CORE.migrations.map((migration): [string, string] => [migration.name, digestOf(migration)]);
    expect(found.slice(0, released.length)).toEqual(released);
  });

  it('O6: is documented in docs/how-to/upgrade.md since the last release', () => {
    const page = readFileSync(join(__dirname, '../../../docs/how-to/upgrade.md'), 'utf8');
    const names = CORE.migrations.slice(released.length).map(({ name }) => name.slice(0, -13));
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('O6: has each file of the folder, in order', () => {
    const folder = join(__dirname, '../../../src/platform/database/migrations');
    const stamps = readdirSync(folder)
      .sort()
      .map((file) => file.slice(0, 13));
    expect(CORE.migrations.map(({ name }) => name.slice(-13))).toEqual(stamps);
  });

  it('O6: builds indexes of existing tables concurrently since 0.1.0', () => {
    for (const { name, statements } of CORE.migrations.slice(OF_0_1_0)) {
      const made = tablesMadeBy(statements);
      const blocking = statements.filter((text) => {
        const [, table = ''] = /^\s*create (?:unique )?index (?:if not exists )?\w+\s+on (\w+)/.exec(text) ?? [];
        return table !== '' && !made.includes(table);
      });
      expect([name, blocking]).toEqual([name, []]);
    }
  });
});

describe('the start on a database', () => {
  let database: ClonedDatabase;
  let client: Client;

  beforeEach(async () => {
    database = await cloneDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  const rows = async (): Promise<object[]> =>
    (await client.query<object>('select module, name, digest from schema_migration order by id')).rows;
  const pidOf = async (of: Client): Promise<number> =>
    (await of.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;
  const asExpected = CORE.migrations.map((migration) => ({
    ...{ module: 'core', name: migration.name, digest: digestOf(migration) },
  }));
  const empty = async (): Promise<string> => {
    await client.query('drop schema public cascade; create schema public');
    return database.url;
  };
  /** The SQL by which the migration runner of 0.1.0 creates the list of migrations. */
  const OLD_LIST =
    'create table schema_migration (id serial primary key, timestamp bigint not null, name character varying not null)';

  it('O6: applies all migrations once, even if replicas start together, and stores their digests', async () => {
    const url = await empty();
    await Promise.all([migrate(url), migrate(url), migrate(url)]);
    expect(await rows()).toEqual(asExpected);
    await migrate(url);
    expect(await rows()).toEqual(asExpected);
  });

  it('O6: of release 0.1.0 adds the digests, and applies and logs the rest in order', async () => {
    const url = await empty();
    await client.query(OLD_LIST);
    for (const { name, statements } of CORE.migrations.slice(0, OF_0_1_0)) {
      for (const text of statements) await client.query(text);
      await client.query('insert into schema_migration (timestamp, name) values ($1, $2)', [name.slice(-13), name]);
    }
    const old = new Client({ connectionString: url, application_name: 'svc-health-server' });
    await old.connect();
    const { names, olderServers, tables } = await planMigrations(url);
    const warning = /^Servers of an older release use the database \(1 connections? from 127\.0\.0\.1\)\. If /;
    expect(olderServers).toMatch(warning);
    expect(names).toEqual(CORE.migrations.slice(OF_0_1_0).map(({ name }) => name));
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['search_string', 'resource']));
    const logged: string[] = [];
    await migrate(url, (line) => logged.push(line));
    const lines = names.map((name) => `Migrating the database: ${name}`);
    expect(logged).toEqual([expect.stringMatching(warning), ...lines]);
    expect(await rows()).toEqual(asExpected);
    expect(await planMigrations(url)).toEqual({ names: [], olderServers: undefined, tables: [] });
    await old.end();
  });

  it('O6: rebuilds an index that a kill left invalid', async () => {
    const index = `from pg_index where indexrelid = 'user_login_folded_idx'::regclass`;
    await client.query(`update pg_index set indisvalid = false where indexrelid = 'user_login_folded_idx'::regclass`);
    for (const text of indexLoginNamesByLowerCase.statements) await client.query(text);
    expect((await client.query(`select indisvalid ${index}`)).rows).toEqual([{ indisvalid: true }]);
  });

  it('O6: waits for another server that migrates, and logs that', async () => {
    await client.query(`set application_name = 'spec'; select pg_advisory_lock(4713590)`);
    const pid = await pidOf(client);
    const logged: string[] = [];
    const start = migrate(database.url, (line) => logged.push(line));
    await eventually('it says so', () => logged.length > 0);
    const { rows: waiting } = await client.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    await client.query('select pg_advisory_unlock(4713590)');
    await start;
    expect(logged).toEqual([
      expect.stringMatching(
        new RegExp(
          `^Another server migrates the database: waiting for it\\. PostgreSQL: process ${pid} \\(spec, since \\S+Z\\)\\.$`,
        ),
      ),
    ]);
    // A waiting statement would block a concurrent index build of the other server.
    expect(waiting).toEqual([]);
  });

  it('O6: names a process of another role without the times that PostgreSQL hides from it', async () => {
    const role = `other_${process.pid}`;
    await client.query(`create role ${role} login password 'other'; select pg_advisory_lock(4711)`);
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'other' });
    const other = new Client({ connectionString: url.href });
    try {
      await other.connect();
      expect(await lockHolder(other, 4711)).toBe(`process ${await pidOf(client)} (no name)`);
    } finally {
      await other.end();
      await client.query(`select pg_advisory_unlock(4711); drop role ${role}`);
    }
  });

  it('O6: that is up to date does not wait for a transaction that reads all tables, such as pg_dump', async () => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
    );
    await client.query(`begin; lock table ${tables.map(({ name }) => name).join(', ')} in access share mode`);
    await migrate(database.url);
    await client.query('rollback');
  });

  it('O6: names the transactions that an index build waits for, without their statements', async () => {
    const dump = new Client({ connectionString: database.url, application_name: 'pg_dump' });
    await dump.connect();
    await dump.query(`begin isolation level repeatable read; select 'patient-canary' from resource`);
    const pid = await pidOf(dump);
    const logged: string[] = [];
    const statements = indexConcurrently('acme_type_idx', 'resource (type)');
    const set = { module: 'acme', migrations: [{ name: 'Acme1795000000999', isApart: true as const, statements }] };
    const migrated = migrate(database.url, (line) => logged.push(line), [set]);
    try {
      await eventually('it says so', () => logged.length === 2, 20_000);
    } finally {
      await dump.end();
      await migrated;
    }
    expect(logged).toEqual([
      'Migrating the database: Acme1795000000999',
      expect.stringMatching(
        new RegExp(
          `^The migration Acme1795000000999 waits for other transactions of the database: process ${pid} \\(pg_dump, since \\S+Z\\)\\.$`,
        ),
      ),
    ]);
  }, 40_000);

  const REFUSED: readonly (readonly [what: string, sql: string, sentence: RegExp])[] = [
    [
      'of a newer release',
      `insert into schema_migration (timestamp, name) values (9999999999999, 'FromTheFuture9999999999999')`,
      /migrated by a newer server \(FromTheFuture9999999999999\)\. Start that version, or restore the backup/,
    ],
    [
      'with a changed migration',
      `update schema_migration set digest = repeat('0', 64) where name = '${FIRST}'`,
      new RegExp(`${FIRST} was applied with other SQL .*: start the build that applied it, or restore a backup`),
    ],
    [
      'that misses a migration in the middle',
      `delete from schema_migration where name = '${CORE.migrations[4]?.name ?? ''}'`,
      new RegExp(`${CORE.migrations[4]?.name ?? ''} is missing .* restore the backup`),
    ],
    [
      'that was restored in part: tables are missing',
      'drop table addendum_entry, refresh_token',
      /Tables are missing .*: refresh_token, addendum_entry\. .*restore the whole backup/,
    ],
    [
      'that was restored in part: the list is missing',
      'drop table schema_migration',
      /no list of migrations, but tables of these names: resource, .*use an empty database, or restore the whole backup/,
    ],
    [
      'of another program, with a table of the same name',
      'drop schema public cascade; create schema public; create table resource (uri text)',
      /tables of these names: resource\. They belong to another program/,
    ],
    [
      'of another program, with a list of other columns',
      'drop schema public cascade; create schema public; create table schema_migration (version text)',
      /The table schema_migration of this database belongs to another program: use another database/,
    ],
    [
      'of another program, with a list of other migrations',
      `drop schema public cascade; create schema public; ${OLD_LIST}; insert into schema_migration (timestamp, name) values (1, 'Other1')`,
      /The table schema_migration of this database belongs to another program: use another database/,
    ],
  ];

  it.each(REFUSED)(
    'O6: refuses a database %s, with one sentence and without a change',
    async (_what, sql, sentence) => {
      await client.query(sql);
      const content = `select table_name, column_name from information_schema.columns where table_schema = 'public' order by 1, 2`;
      const before = (await client.query(content)).rows;
      await expect(migrate(database.url)).rejects.toMatchObject({
        name: 'StartError',
        message: expect.stringMatching(sentence),
      });
      await expect(planMigrations(database.url)).rejects.toThrow(sentence);
      expect((await client.query(content)).rows).toEqual(before);
    },
  );

  it('O6: gives a remedy if a table stays locked, and changes nothing', async () => {
    const url = await empty();
    await client.query(OLD_LIST);
    for (const text of CORE.migrations[0]?.statements ?? []) await client.query(text);
    await client.query(`insert into schema_migration (timestamp, name) values (1, '${FIRST}')`);
    const other = new Client({ connectionString: url });
    await other.connect();
    try {
      await other.query('begin; lock table resource_history in share mode');
      await expect(migrate(url)).rejects.toMatchObject({
        name: 'StartError',
        message: expect.stringContaining('waited too long for a table that others use'),
      });
    } finally {
      await other.end();
    }
    await migrate(url);
    expect(await rows()).toEqual(asExpected);
  });

  it.each([
    ['that is read-only', 'default_transaction_read_only = on', /^The sessions of DATABASE_URL are read-only: remove/],
    ['without a schema', 'search_path = nowhere', /^No schema of the search_path exists, so tables have no place: /],
  ])('O9: is refused with a session %s, also in a check', async (_what, setting, sentence) => {
    await client.query(`alter database ${database.name} set ${setting}`);
    await expect(migrate(database.url)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(sentence),
    });
    await expect(planMigrations(database.url)).rejects.toThrow(sentence);
  });

  it('O9: uses a schema whose name needs quotes', async () => {
    const url = await empty();
    await client.query(`create schema "Ward 1"; alter database ${database.name} set search_path = "Ward 1"`);
    await migrate(url);
    expect((await planMigrations(url)).names).toEqual([]);
  });

  it('O9: ignores tables of other programs and roles, whatever their names', async () => {
    const url = new URL(await empty());
    const role = `svc_migrations_${database.name}`;
    try {
      await client.query(`create role ${role} login password 'spec'; grant create, usage on schema public to ${role};
        grant create on database ${database.name} to ${role};
        create table state (); create table "shift (night" ()`);
      Object.assign(url, { username: role, password: 'spec' });
      const { tables } = await planMigrations(url.href);
      await migrate(url.href);
      expect([tables.map(({ name }) => name), await rows()]).toEqual([[], asExpected]);
    } finally {
      await client.query(`drop owned by ${role}; drop role ${role}`);
    }
  });

  it('O9: gives a remedy if PostgreSQL ends the session', async () => {
    const sleep = async (own: Client): Promise<void> => {
      await own.query('select pg_sleep(30)');
    };
    const refused = expect(migrate(database.url, undefined, [], sleep)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(
        /^PostgreSQL ended the work on the schema: terminating connection .*\. Remove the cause and start again: /,
      ),
    });
    await eventually('it works', async () => {
      const { rows } = await client.query<{ ended: boolean }>(
        `select pg_terminate_backend(pid) as ended from pg_stat_activity
        where datname = current_database() and wait_event = 'PgSleep'`,
      );
      return rows.length > 0;
    });
    await refused;
  });

  it.each([
    ['another encoding', `encoding 'LATIN1' locale 'C'`],
    ['a locale with only ASCII letters', `encoding 'UTF8' locale_provider libc locale 'C'`],
  ])('refuses a database with %s', async (_what, options) => {
    const name = `${database.name}_locale`;
    await runStatement(database.url, `create database ${name} template template0 ${options}`);
    try {
      await expect(migrate(databaseUrl(database.url, name))).rejects.toThrow('The database must know the letters');
    } finally {
      await dropDatabase(database.url, name);
    }
  });
});
