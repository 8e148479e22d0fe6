import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type ClonedDatabase } from '../../testing/test-databases';
import { ServerProcess } from '../support/server-process';
import { KEPT_KEY, restoreKept } from './kept-database';

describe('an upgrade of release 0.1.0 whose settings are wrong', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-upgrade-'));
  const types = join(folder, 'types.json');
  writeFileSync(types, '[{"type":"svc.sdc.addendum/Handover"}]');
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
    rmSync(folder, { recursive: true, force: true });
  });

  const schema = async (): Promise<object[]> =>
    (
      await client.query<object>(
        `select table_name, column_name from information_schema.columns where table_schema = 'public' order by 1, 2`,
      )
    ).rows;

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['a reserved addendum type', { SVC_ADDENDUM_TYPES: types }, /^SVC_ADDENDUM_TYPES .*types\.json: \[0\]\.type /],
    [
      'another encryption key',
      { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
      /^SVC_ENCRYPTION_KEY is not the key that encrypted the secrets of this database: /,
    ],
    [
      'a removed setting',
      { SVC_STREAM_MAX_SECONDS: '900' },
      /^Wrong settings:\n {2}SVC_STREAM_MAX_SECONDS was removed in 0\.2\.0: delete it/,
    ],
    ['a missing encryption key', { SVC_ENCRYPTION_KEY: '' }, /^Wrong settings:\n {2}SVC_ENCRYPTION_KEY must be set/],
  ])(
    'O6: %s stops the start and the check with one sentence, before any migration',
    async (_what, wrong, sentence) => {
      const settings = {
        ...{ PORT: '0', HOST: '127.0.0.1', DATABASE_URL: database.url, SVC_ENCRYPTION_KEY: KEPT_KEY },
        ...wrong,
      };
      const before = await schema();
      const { exitCode, output } = await ServerProcess.startAndFail(settings);
      expect([exitCode, output.trim()]).toEqual([1, expect.stringMatching(sentence)]);
      const check = spawnSync(
        process.execPath,
        [join(process.env.TEST_BUILD ?? '', 'tools/migrate/migrate.js'), '--check'],
        { env: { PATH: process.env.PATH, ...settings }, encoding: 'utf8' },
      );
      expect([check.status, check.stdout, check.stderr.trim()]).toEqual([1, '', output.trim()]);
      expect(await schema()).toEqual(before);
      expect((await client.query('select from schema_migration')).rowCount).toBe(9);
    },
    60_000,
  );
});
