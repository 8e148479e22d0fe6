import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { MIGRATIONS } from '../../src/platform/database/all-migrations';
import { migrate, planMigrations } from '../../src/platform/database/migrate';
import { digestOf, tablesMadeBy } from '../../src/platform/database/migration';
import { indexLoginNamesByLowerCase } from '../../src/platform/database/migrations/1795000000220-index-login-names-by-lower-case';
import { type ClonedDatabase, cloneDatabase } from '../support/clone-database';
import { databaseUrl, dropDatabase, runStatement } from '../support/databases';

/** Digests of the migrations that are part of a release, in order. Lines are added when one is cut, and never changed. */
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
};

const released = Object.values(RELEASED).flatMap((digests) => Object.entries(digests));
const FIRST = MIGRATIONS[0]?.name ?? '';

describe('the list of migrations', () => {
  it('O6: begins with the released ones, whose SQL has not changed', () => {
    const found = MIGRATIONS.map((migration): [string, string] => [migration.name, digestOf(migration)]);
    expect(found.slice(0, released.length)).toEqual(released);
  });

  it('O6: holds each file of the folder, in its order', () => {
    const folder = join(__dirname, '../../src/platform/database/migrations');
    const stamps = readdirSync(folder)
      .sort()
      .map((file) => file.slice(0, 13));
    expect(MIGRATIONS.map(({ name }) => name.slice(-13))).toEqual(stamps);
  });

  it('O6: builds indexes of existing tables concurrently, from 0.1.0 on', () => {
    for (const { name, statements } of MIGRATIONS.slice(released.length)) {
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
  const asExpected = MIGRATIONS.map((migration) => ({
    ...{ module: 'core', name: migration.name, digest: digestOf(migration) },
  }));
  const empty = async (): Promise<string> => {
    await client.query('drop schema public cascade; create schema public');
    return database.url;
  };
  /** As the runner of 0.1.0 makes it. */
  const OLD_LIST =
    'create table schema_migration (id serial primary key, timestamp bigint not null, name character varying not null)';

  it('O6: applies all migrations once, also where replicas start together, and keeps their digests', async () => {
    const url = await empty();
    await Promise.all([migrate(url), migrate(url), migrate(url)]);
    expect(await rows()).toEqual(asExpected);
    await migrate(url);
    expect(await rows()).toEqual(asExpected);
  });

  it('O6: of release 0.1.0 adds the digests, applies the rest in order and says so', async () => {
    const url = await empty();
    await client.query(OLD_LIST);
    for (const { name, statements } of MIGRATIONS.slice(0, released.length)) {
      for (const text of statements) await client.query(text);
      await client.query('insert into schema_migration (timestamp, name) values ($1, $2)', [name.slice(-13), name]);
    }
    const { names, tables } = await planMigrations(url);
    expect(names).toEqual(MIGRATIONS.slice(released.length).map(({ name }) => name));
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['search_string', 'resource']));
    const told: string[] = [];
    await migrate(url, (line) => told.push(line));
    expect(told).toEqual(names.map((name) => `Migrating the database: ${name}`));
    expect(await rows()).toEqual(asExpected);
    expect(await planMigrations(url)).toEqual({ names: [], tables: [] });
  });

  it('O6: builds an index anew that a kill left invalid', async () => {
    const index = `from pg_index where indexrelid = 'user_login_folded_idx'::regclass`;
    await client.query(`update pg_index set indisvalid = false where indexrelid = 'user_login_folded_idx'::regclass`);
    for (const text of indexLoginNamesByLowerCase.statements) await client.query(text);
    expect((await client.query(`select indisvalid ${index}`)).rows).toEqual([{ indisvalid: true }]);
  });

  it('O6: waits for another server that migrates, and says so', async () => {
    await client.query('select pg_advisory_lock(4713590)');
    const told: string[] = [];
    const start = migrate(database.url, (line) => told.push(line));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const { rows: waiting } = await client.query(
      `select from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`,
    );
    await client.query('select pg_advisory_unlock(4713590)');
    await start;
    expect(told).toEqual(['Another server migrates the database: waiting for it.']);
    // A waiting statement would hold up an index that the other one builds concurrently.
    expect(waiting).toEqual([]);
  });

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
      `delete from schema_migration where name = '${MIGRATIONS[4]?.name ?? ''}'`,
      new RegExp(`${MIGRATIONS[4]?.name ?? ''} is missing .* restore the backup`),
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
      'of another program, with a table of our name',
      'drop schema public cascade; create schema public; create table resource (uri text)',
      /tables of these names: resource\. They belong to another program/,
    ],
    [
      'of another program, with a list of other columns',
      'drop schema public cascade; create schema public; create table schema_migration (version text)',
      /The table schema_migration of this database belongs to another program: use a database of its own/,
    ],
    [
      'of another program, with a list of other migrations',
      `drop schema public cascade; create schema public; ${OLD_LIST}; insert into schema_migration (timestamp, name) values (1, 'Other1')`,
      /The table schema_migration of this database belongs to another program: use a database of its own/,
    ],
  ];

  it.each(REFUSED)('O6: refuses one %s, with one sentence and without a change', async (_what, sql, sentence) => {
    await client.query(sql);
    const content = `select table_name, column_name from information_schema.columns where table_schema = 'public' order by 1, 2`;
    const before = (await client.query(content)).rows;
    await expect(migrate(database.url)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(sentence),
    });
    await expect(planMigrations(database.url)).rejects.toThrow(sentence);
    expect((await client.query(content)).rows).toEqual(before);
  });

  it('O6: says what to do where a table stays locked, and changes nothing', async () => {
    const url = await empty();
    await client.query(OLD_LIST);
    for (const text of MIGRATIONS[0]?.statements ?? []) await client.query(text);
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
    ['another encoding', `encoding 'LATIN1' locale 'C'`],
    ['a locale that knows ASCII alone', `encoding 'UTF8' locale_provider libc locale 'C'`],
  ])('refuses one of %s', async (_what, options) => {
    const name = `${database.name}_locale`;
    await runStatement(database.url, `create database ${name} template template0 ${options}`);
    try {
      await expect(migrate(databaseUrl(database.url, name))).rejects.toThrow('The database must know the letters');
    } finally {
      await dropDatabase(database.url, name);
    }
  });
});
