import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneDatabase, type ClonedDatabase } from '../../../testing/test-databases';
import { encryptionKey } from '../../../testing/test-app';
import { databaseUrl, runStatement } from '../../../testing/databases';
import { ServerProcess } from '../../support/server-process';
import { TransactionPooler } from '../../support/transaction-pooler';

const ROLE = 'svc_start_spec';

describe('O9: a failed start prints one sentence and no stack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-start-'));
  const taken = createServer();
  let port: number;
  let database: ClonedDatabase;

  beforeAll(async () => {
    database = await cloneDatabase();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    ({ port } = taken.address() as AddressInfo);
  });
  afterAll(async () => {
    taken.close();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const external = (url: string): Record<string, string> => ({
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: url,
    SVC_DATABASE_WAIT_SECONDS: '0',
    SVC_ENCRYPTION_KEY: encryptionKey(),
  });

  async function sentenceOf(environment: Readonly<Record<string, string>>): Promise<string> {
    const { exitCode, output } = await ServerProcess.startAndFail(environment);
    expect(exitCode).toBe(1);
    expect(output).not.toMatch(/^\s+at /m);
    return output.trim();
  }

  it.each(['PORT', 'SVC_METRICS_PORT'])('if %s is in use, before it creates a data folder', async (name) => {
    const dataDirectory = join(folder, `new-${name}`);
    const sentence = await sentenceOf({ PORT: '0', DATA_DIR: dataDirectory, [name]: String(port) });
    expect(sentence).toMatch(
      new RegExp(`^listen EADDRINUSE.*:${port} \\(another program listens there\\)\\. Set ${name} or `),
    );
    expect(existsSync(dataDirectory)).toBe(false);
  });

  it('if the data folder cannot be created', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, '');
    expect(await sentenceOf({ PORT: '0', DATA_DIR: join(path, 'data') })).toMatch(
      /^The data directory cannot be made: ENOTDIR.* Set DATA_DIR to a folder/,
    );
  });

  // No account can write to /sys, not even root.
  (process.platform === 'linux' ? it : it.skip)('where the data folder cannot be written', async () => {
    expect(await sentenceOf({ PORT: '0', DATA_DIR: '/sys' })).toMatch(
      /^The data directory \/sys cannot be written: E.* Give this account space and rights there, or set DATA_DIR to another folder\.$/,
    );
  });

  it('if the database does not exist', async () => {
    const sentence = await sentenceOf(external(databaseUrl(database.url, 'svc_no_such_database')));
    expect(sentence).toMatch(/^The database of DATABASE_URL .*: database "svc_no_such_database" does not exist$/);
  });

  it('if the connection is refused, also at several addresses', async () => {
    const sentence = await sentenceOf(external('postgresql://nobody:pass-canary@localhost:1/none'));
    expect(sentence).toMatch(/^The database of DATABASE_URL .*ECONNREFUSED/);
    expect(sentence).not.toContain('pass-canary');
  });

  it('if the pooler does not support prepared statements', async () => {
    const pooler = await TransactionPooler.start(database.url, { keepsNames: false });
    const environment = { ...external(pooler.url), SVC_DATABASE_DIRECT_URL: database.url };
    expect(await sentenceOf(environment).finally(() => pooler.stop())).toMatch(
      /^The pooler of DATABASE_URL keeps no named statements in transaction mode: .*$/,
    );
  }, 90_000);

  it('O5: after it waited for a database that accepts no connections', async () => {
    const environment = {
      ...external('postgresql://nobody:pass-canary@localhost:1/none'),
      SVC_DATABASE_WAIT_SECONDS: '1',
    };
    const [first, last, ...more] = (await sentenceOf(environment)).split('\n');
    expect(first).toContain('The database takes no connections yet. Trying again for 1 s.');
    expect(last).toMatch(/^The database of DATABASE_URL .*ECONNREFUSED/);
    expect(more).toEqual([]);
  });

  it('if DATABASE_URL cannot be parsed', async () => {
    const sentence = await sentenceOf(external('postgresql://nobody:pass-canary@localhost:x/none'));
    expect(sentence).toBe('DATABASE_URL is no URL: escape special characters of the password.');
  });

  it('if the role may not change the schema', async () => {
    await runStatement(database.url, `create role ${ROLE} login password 'start-spec'`);
    const empty = await emptyDatabase(database);
    try {
      const url = new URL(empty.url);
      Object.assign(url, { username: ROLE, password: 'start-spec' });
      expect(await sentenceOf(external(url.href))).toMatch(
        /^The role of DATABASE_URL lacks a right: permission denied/,
      );
    } finally {
      await empty.drop();
      await runStatement(database.url, `drop role ${ROLE}`);
    }
  });

  it('where the role does not own the tables: also the check of the upgrade refuses, and nothing is changed', async () => {
    const stored = await cloneDatabase();
    await runStatement(database.url, `create role ${ROLE} login password 'start-spec'`);
    try {
      await runStatement(stored.url, `delete from schema_migration where name like 'CreateSessionLink%'`);
      await runStatement(stored.url, 'drop table session_link');
      await runStatement(stored.url, `grant select, update on all tables in schema public to ${ROLE}`);
      await runStatement(stored.url, `grant create on schema public to ${ROLE}`);
      const url = new URL(stored.url);
      Object.assign(url, { username: ROLE, password: 'start-spec' });
      const sentence = await sentenceOf(external(url.href));
      expect(sentence).toMatch(
        /^The role of DATABASE_URL lacks a right: it does not own .*schema_migration.*\. Let it own the database and its tables/,
      );
      const check = spawnSync(
        process.execPath,
        [join(process.env.TEST_BUILD ?? '', 'tools/migrate/migrate.js'), '--check'],
        { env: { PATH: process.env.PATH, ...external(url.href) }, encoding: 'utf8' },
      );
      expect([check.status, check.stdout, check.stderr.trim()]).toEqual([1, '', sentence]);
    } finally {
      await stored.drop();
      await runStatement(database.url, `drop role ${ROLE}`);
    }
  }, 90_000);

  it('if the first start lacks secrets, or has a short password', async () => {
    expect(await sentenceOf(external(database.url))).toMatch(
      /The first start on a database needs SVC_ROOT_CLIENT_SECRET and SVC_ADMIN_PASSWORD\.$/,
    );
    // The first start has encrypted nothing yet, so a person who makes another key meanwhile is not refused.
    const key = { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
    const secrets = { SVC_ROOT_CLIENT_SECRET: 'r'.repeat(24), SVC_ADMIN_PASSWORD: 'short' };
    expect(await sentenceOf({ ...external(database.url), ...key, ...secrets })).toMatch(
      /SVC_ADMIN_PASSWORD has at least 8 characters\.$/,
    );
  }, 90_000);
});

/** A database without tables, in which only its owner may create some. */
async function emptyDatabase({ url }: ClonedDatabase): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = 'svc_start_spec_empty';
  await runStatement(url, `drop database if exists ${name}`);
  await runStatement(url, `create database ${name} template template0 encoding 'UTF8' locale 'C.UTF-8'`);
  const empty = databaseUrl(url, name);
  await runStatement(empty, 'revoke create on schema public from public');
  return { url: empty, drop: () => runStatement(url, `drop database ${name} with (force)`) };
}
