import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres';
import { findRunningCluster } from '../../../src/platform/database/embedded/embedded-postgres';
import { runStatement } from '../../../testing/databases';
import { eventually } from '../../../testing/eventually';
import { cloneDatabase } from '../../../testing/test-databases';

const BUILD = process.env.TEST_BUILD ?? '';
const PATIENCE = 60_000;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-tools-'));
  await chmod(folder, 0o755); // the account of PostgreSQL passes through it
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function run(script: readonly string[], variables: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, script, { env: { PATH: process.env.PATH, DATA_DIR: folder, ...variables } });
}

/** Returns the exit code, and what was written to stderr. */
async function ended(child: ChildProcess): Promise<{ code: number | null; errors: string }> {
  let errors = '';
  child.stderr?.on('data', (text: Buffer) => (errors += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, errors };
}

describe('npm run load when it is interrupted', () => {
  let server: Server;
  let stored = 0;
  let answer = (): void => undefined;

  /** A server that answers the next Bundle when {@link answer} is called. */
  beforeEach(async () => {
    stored = 0;
    server = createServer((request, response) => {
      request.resume().once('end', () => {
        if (request.method === 'GET') response.end();
        else {
          stored++;
          answer = () => response.end('{"entry":[{"response":{"status":"201 Created"}}]}');
        }
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'records the entries of a running request (%s)',
    async (signal, exitCode) => {
      const data = join(folder, 'one.ndjson');
      await writeFile(data, '{"resourceType":"Patient"}');
      const { port } = server.address() as AddressInfo;
      const script = [join(BUILD, 'tools/load/load.js'), data];
      const variables = { BASE_URL: `http://127.0.0.1:${port}`, TOKEN: 'any' };
      const first = run(script, variables);
      await eventually('the request is in flight', () => stored === 1, PATIENCE);
      const end = ended(first);
      first.kill(signal);
      await once(first.stderr ?? first, 'data');
      answer();
      expect((await end).code).toBe(exitCode);
      expect((await ended(run(script, variables))).code).toBe(0);
      expect(stored).toBe(1);
    },
    PATIENCE,
  );
});

describe('a tool whose output cannot be written', () => {
  it(
    'does its work, and ends with one sentence',
    async () => {
      const database = await cloneDatabase();
      try {
        const child = run([join(BUILD, 'tools/migrate/migrate.js')], { DATABASE_URL: database.url });
        child.stdout?.destroy();
        expect(await ended(child)).toEqual({ code: 1, errors: 'Lines of the output are lost: write EPIPE\n' });
      } finally {
        await database.drop();
      }
    },
    PATIENCE,
  );
});

describe('npm run after-restore', () => {
  it(
    'prints the migrations that it applies, as a start does',
    async () => {
      const database = await cloneDatabase();
      try {
        await runStatement(database.url, `delete from schema_migration where name like 'CreateSessionLink%'`);
        await runStatement(database.url, 'drop table session_link');
        const child = run([join(BUILD, 'tools/after-restore/after-restore.js')], { DATABASE_URL: database.url });
        let printed = '';
        child.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
        expect(await ended(child)).toEqual({ code: 0, errors: '' });
        expect(printed).toMatch(/^Migrating the database: CreateSessionLink\d+\nA new delivery generation was made\. /);
      } finally {
        await database.drop();
      }
    },
    PATIENCE,
  );
});

describe('a tool that started the embedded database', () => {
  const WAITING = `require(${JSON.stringify(join(BUILD, 'tools/with-database.js'))})
    .withDatabase(() => new Promise((resolve) => setTimeout(resolve, ${PATIENCE})))`;

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'stops it at %s',
    async (signal, exitCode) => {
      const created = await startEmbeddedPostgres({ dataDirectory: folder, isDurable: false });
      await created.stop();
      const child = run(['-e', WAITING], {});
      await eventually('PostgreSQL runs', () => findRunningCluster(folder), PATIENCE);
      const end = ended(child);
      child.kill(signal);
      expect((await end).code).toBe(exitCode);
      expect(await findRunningCluster(folder)).toBeUndefined();
    },
    PATIENCE,
  );
});

describe('a tool whose DATA_DIR has no database', () => {
  it.each(['after-restore/after-restore.js', 'migrate/migrate.js --check', 'rotate-keys/rotate-keys.js --encryption'])(
    '%s fails, and creates nothing',
    async (command) => {
      const [script = '', ...parameters] = command.split(' ');
      const encryption = { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
      expect(await ended(run([join(BUILD, 'tools', script), ...parameters], encryption))).toEqual({
        code: 1,
        errors: `${folder} has no embedded database. Set DATA_DIR to that of the server, or set DATABASE_URL.\n`,
      });
      expect(await readdir(folder)).toEqual([]);
    },
    PATIENCE,
  );
});
