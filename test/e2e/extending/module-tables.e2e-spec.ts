import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { type Client } from 'pg';
import { type Migration } from '../../../src/platform/database/migration';
import { migrate } from '../../../src/platform/database/schema/migrate';
import { SERVER_WORDS } from '../../../src/platform/database/schema/schema-migrations';
import { DatabaseClient } from '../../../src/platform/database/database-client';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';

let database: ClonedDatabase;
let client: Client;

beforeAll(async () => {
  database = await cloneDatabase();
  client = await new DatabaseClient({ connectionString: database.url }).connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

let last = 1_795_000_000_000;

const migration = (statements: readonly string[], more: Partial<Migration> = {}): Migration => ({
  name: `Change${++last}`,
  statements,
  ...more,
});

/** Returns the error of a start of a module with these migrations; undefined if it starts. */
const startWith = (module: string, ...migrations: readonly Migration[]): Promise<string | undefined> =>
  migrate(database.url, undefined, [{ module, migrations }]).then(
    () => undefined,
    (error: unknown) => String(error),
  );

const schema = async (): Promise<unknown> =>
  (
    await client.query(
      `select c.relname, a.attname from pg_class c left join pg_attribute a on a.attrelid = c.oid
      where relnamespace = 'public'::regnamespace order by 1, 2`,
    )
  ).rows;

describe('a migration of a module', () => {
  it.each<[string, readonly string[], string]>([
    ['adds a column to', ['alter table resource add column acme_x int'], 'resource'],
    ['adds an index to', ['create index acme_x on resource_history (id)'], 'resource_history'],
    [
      'adds a trigger to',
      [
        `create function acme_f() returns trigger language plpgsql as 'begin return new; end'`,
        'create trigger acme_t before insert on resource for each row execute function acme_f()',
      ],
      'resource',
    ],
    ['drops', ['drop table addendum_entry cascade'], 'addendum_entry'],
    ['renames', ['alter table signing_key rename to acme_key'], 'signing_key'],
    ['deletes rows of', ['delete from session_token'], 'session_token'],
    ['empties', ['truncate user_password'], 'user_password'],
    ['has a foreign key to', ['create table acme_x (token bytea references refresh_token)'], 'refresh_token'],
    ['changes in a second statement', ['select 1; delete from outbox_event'], 'outbox_event'],
    ['changes the list of migrations', ['delete from schema_migration'], 'schema_migration'],
  ])('that %s a table of the server is refused and rolled back', async (_what, statements, table) => {
    const before = await schema();
    const refusal = await startWith('acme', migration(statements));
    expect(refusal).toContain('of the module with the prefix "acme" failed, and nothing of it is kept: ');
    expect(refusal).toContain(`it changes ${table}, which is a table of the server`);
    expect(await schema()).toEqual(before);
  });

  it.each([
    [
      'replaces',
      `create or replace function refuse_history_change() returns trigger language plpgsql as 'begin return new; end'`,
    ],
    ['overloads', `create function next_event_id(text) returns bigint language sql as 'select 1::bigint'`],
    ['alters', 'alter function raise_outbox_mark reset all'],
    ['renames', 'alter function raise_outbox_mark rename to acme_f'],
    ['drops', 'drop function raise_outbox_mark'],
  ])('that %s a function of the server is refused and rolled back', async (_what, statement) => {
    const functions = async (): Promise<unknown> =>
      (await client.query(`select oid, xmin, proname, prosrc from pg_proc where pronamespace = 'public'::regnamespace`))
        .rows;
    const before = await functions();
    expect(await startWith('acme', migration([statement]))).toMatch(
      /it changes \w+\(\), which is a function of the server/,
    );
    expect(await functions()).toEqual(before);
  });

  it.each<[string, readonly string[], string]>([
    ['table', ['create table other (id int)'], 'other'],
    ['table after one with the prefix', ['create table acme_x (id int); CREATE TABLE "Other" (id int)'], 'Other'],
    ['view', ['create view resource_view as select 1'], 'resource_view'],
    ['renamed table', ['create table acme_x (id int)', 'alter table acme_x rename to other'], 'other'],
  ])('whose %s has no prefix is refused', async (_what, statements, name) => {
    const before = await schema();
    expect(await startWith('acme', migration(statements))).toContain(
      `it makes ${name}, whose name must begin with "acme_"`,
    );
    expect(await schema()).toEqual(before);
  });

  it('may read tables of the server, and change tables of modules', async () => {
    const base = { module: 'acme_base', migrations: [migration(['create table acme_base_x (id int primary key)'])] };
    const more = migration([
      'create table acme_more_y as select count(*) as resources from resource',
      'create table acme_more_z (x int references acme_base_x)',
      'insert into acme_base_x values (1)',
    ]);
    await migrate(database.url, undefined, [base, { module: 'acme_more', migrations: [more] }]);
    const apart = migration(['create index concurrently acme_more_z_idx on acme_more_z (x)'], { isApart: true });
    await migrate(database.url, undefined, [base, { module: 'acme_more', migrations: [more, apart] }]);
  });

  it('may have the same name as one of another module', async () => {
    const name = 'Make1795000000000';
    const sets = ['acme_one', 'acme_two'].map((module) => ({
      module,
      migrations: [{ name, statements: [`create table ${module}_x (id int)`] }],
    }));
    await migrate(database.url, undefined, sets);
    await migrate(database.url, undefined, sets);
  });

  it('is refused if its table exists already, and the error names the module', async () => {
    await client.query('create table acme_there_x (id int)');
    expect(await startWith('acme_there', migration(['create table acme_there_x (id int)']))).toContain(
      'The database has no migration with the prefix "acme_there", but these tables of its migrations: acme_there_x.',
    );
  });

  it.each(['resource', 'session_log', 'svc'])('is refused with the prefix %s of the server', async (prefix) => {
    expect(await startWith(prefix, migration([`create table ${prefix}_x (id int)`]))).toContain(
      `The prefix "${prefix}" of the migrations of a module begins as tables of the server do, which may get more of them. Begin it with a name of your own, such as "acme_${prefix}".`,
    );
  });

  it('cannot use the prefixes that the page for modules lists, and these are all', () => {
    const [, words = ''] = /begins with none of (.*?)\.\s/s.exec(readFileSync('docs/how-to/extend.md', 'utf8')) ?? [];
    // A new table of the server begins with one of these words: a module may have tables with any other.
    expect([...words.matchAll(/`(\w+)`/g)].map(([, word]) => word).sort()).toEqual([...SERVER_WORDS].sort());
  });

  it('of a newer release stops the start with an older release of the module', async () => {
    const first = migration(['create table acme_old_x (id int)']);
    const second = migration(['create table acme_old_y (id int)']);
    expect(await startWith('acme_old', first, second)).toBeUndefined();
    expect(await startWith('acme_old', first)).toContain(
      `The database was migrated by a newer release of the module with the prefix "acme_old" (${second.name}).`,
    );
  });
});
