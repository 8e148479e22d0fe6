import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { clusterFolder, clusterHome, findClusterPlace } from '../../src/platform/database/embedded/cluster';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from '../../src/platform/database/embedded/embedded-postgres';
import { findBinaries } from '../../src/platform/database/embedded/postgres-binaries';
import { findPostmasterPid, postmasterPidPath } from '../../src/platform/database/embedded/postmaster-pid-file';
import { readCommandLine } from '../../src/platform/database/embedded/leftover-postmaster';
import { findRunningCluster } from '../../src/platform/database/embedded/embedded-postgres';
import { fallbackFolder } from '../../src/platform/database/embedded/root-state';

const itAsRoot = process.getuid?.() === 0 ? it : it.skip;

describe(startEmbeddedPostgres.name, () => {
  let directory: string;
  let pgdata: string;
  const servers: EmbeddedPostgres[] = [];
  const processes: ChildProcess[] = [];

  beforeAll(async () => {
    directory = await makeDirectory();
    pgdata = clusterFolder(clusterHome(directory));
  });

  afterEach(async () => {
    for (const child of processes.splice(0)) child.kill('SIGKILL');
    for (const server of servers.splice(0)) await server.stop();
  });

  afterAll(() => rm(directory, { recursive: true }));

  async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ dataDirectory: directory, isDurable: false, ...options });
    servers.push(server);
    return server;
  }

  /** Starts a separate process that owns the PostgreSQL of the test. */
  async function startOwner(): Promise<{ owner: ChildProcess; url: string }> {
    const owner = spawn(process.execPath, [join('test', 'support', 'embedded-owner.cjs'), directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    processes.push(owner);
    const [url] = (await once(owner.stdout, 'data')) as [Buffer];
    return { owner, url: url.toString().trim() };
  }

  async function readPostmasterPid(): Promise<number> {
    return (await findPostmasterPid(pgdata))?.pid ?? Number.NaN;
  }

  it('creates a cluster, also after an earlier creation was killed', async () => {
    await mkdir(join(directory, 'postgres.new-killed', 'cluster'), { recursive: true });

    const { url } = await start();

    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await readdir(directory)).toEqual(['postgres']);
  });

  it('protects cluster and password from other accounts', async () => {
    const home = clusterHome(directory);
    const modes = [home, pgdata, join(home, 'password')].map(async (path) => (await stat(path)).mode & 0o777);

    expect(await Promise.all(modes)).toEqual([0o700, 0o700, 0o600]);
  });

  it('keeps data between two starts, and leaves no process after a stop', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 7 as n');
    const pid = await readPostmasterPid();
    await first.stop();
    expect(await readCommandLine(pid)).toBe('');

    const second = await start();

    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
  });

  it('refuses a second start while the first server runs', async () => {
    const { url } = await start();

    await expect(start()).rejects.toThrow(
      `${directory} is in use by another running server. Stop it, or set DATA_DIR to another folder.`,
    );
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('prefers given settings to its own', async () => {
    const { url } = await start({ settings: { max_connections: '17', jit: 'on' } });

    const names = `('fsync', 'jit', 'listen_addresses', 'max_connections', 'unix_socket_directories')`;
    expect(await query(url, `select name, setting from pg_settings where name in ${names} order by name`)).toEqual([
      { name: 'fsync', setting: 'off' },
      { name: 'jit', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'max_connections', setting: '17' },
      { name: 'unix_socket_directories', setting: '' },
    ]);
  });

  it('keeps every acknowledged row when its postmaster is killed', async () => {
    const killed = await start({ isDurable: true });
    await query(killed.url, 'create table acknowledged (n int primary key)');
    const pid = await readPostmasterPid();

    const acknowledged = await insertUntilCut(killed.url, (count) => {
      if (count === 300) process.kill(pid, 'SIGKILL');
    });
    await killed.stop();
    const { url } = await start();

    const rows = await query(url, 'select count(*)::int as count from acknowledged where n <= $1', [acknowledged]);
    expect(rows).toEqual([{ count: acknowledged }]);
    expect(acknowledged).toBeGreaterThanOrEqual(300);
  });

  it('logs an unexpected exit of PostgreSQL, without data of statements', async () => {
    let log: (line: string) => void = () => undefined;
    const logged = new Promise<string>((resolve) => (log = resolve));
    const { url } = await start({ log });
    const [client, witness] = [await connect(url), await connect(url)];
    await expect(client.query(`select 'canary'::int`)).rejects.toThrow('canary');
    await expect(client.query('select $1::int', ['canary'])).rejects.toThrow('canary');
    // PostgreSQL adds a DETAIL line with the key of a duplicate, or with the row that a check refuses.
    await client.query(`create table canary (name text unique check (name <> 'no canary'))`);
    for (const values of [`('canary'), ('canary')`, `('no canary')`])
      await expect(client.query(`insert into canary values ${values}`)).rejects.toThrow('constraint');
    const interrupted = expect(client.query(`select pg_sleep(60), 'canary'`)).rejects.toThrow(
      'terminated unexpectedly',
    );
    const sleepers = `select pid from pg_stat_activity where wait_event = 'PgSleep'`;
    let pid: number | undefined;
    while (pid === undefined) pid = (await witness.query<{ pid: number }>(sleepers)).rows[0]?.pid;

    const ended = once(witness, 'error'); // the crash ends every session, this one perhaps first
    process.kill(pid, 'SIGKILL');
    await interrupted;
    await ended; // PostgreSQL logs the crash before
    process.kill(await readPostmasterPid(), 'SIGKILL');

    expect(await logged).toMatch(/^PostgreSQL ended unexpectedly:\n.*was terminated by signal 9/s);
    expect(await logged).not.toContain('canary');
  });

  it('takes over the cluster after its owner was killed', async () => {
    const { owner, url } = await startOwner();
    await query(url, 'create table inherited as select 5 as n');
    const orphan = await readPostmasterPid();
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(await query(url, 'select n from inherited')).toEqual([{ n: 5 }]);

    const server = await start();

    expect(await query(server.url, 'select n from inherited')).toEqual([{ n: 5 }]);
    expect(await readCommandLine(orphan)).toBe('');
  });

  it('takes over the cluster after owner and postmaster were killed', async () => {
    const { owner } = await startOwner();
    expect(await findRunningCluster(directory)).toMatch(/^postgresql:/);
    const postmaster = await readPostmasterPid();
    process.kill(postmaster, 'SIGKILL');
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    while ((await readCommandLine(postmaster)) !== '') await delay(10); // on a busy machine it ends later

    expect(await findRunningCluster(directory)).toBeUndefined(); // the pid file is still there
    const { url } = await start();

    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it.each([
    ['is empty', () => ''],
    ['is garbage', () => 'garbage\n'],
    ['names a process that has exited', () => `99999999\n${pgdata}\n`],
    ['names a foreign process', (stranger: number) => `${stranger}\n${pgdata}\n`],
  ])('starts if the pid file %s', async (_, contentOf) => {
    const stranger = spawn('sleep', ['60']);
    processes.push(stranger);
    await writeFile(postmasterPidPath(pgdata), contentOf(stranger.pid ?? Number.NaN));

    expect(await findRunningCluster(directory)).toBeUndefined();
    const { url } = await start();

    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(stranger.exitCode).toBeNull();
  });

  it('reports why PostgreSQL does not start, and releases the data directory', async () => {
    const file = join(pgdata, 'PG_VERSION');
    const version = await readFile(file, 'utf8');
    await writeFile(file, '9.6\n');
    await expect(start()).rejects.toThrow(
      /^PostgreSQL did not start: database files are incompatible with server\. The end of its log:\n/,
    );
    await writeFile(file, version);

    const { url } = await start();

    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  // With a limit for the size of files, initdb fails as on a full disk.
  (process.platform === 'linux' ? it : it.skip)(
    'reports in one line why initdb fails, and starts after the cause is gone',
    async () => {
      const [binaryDirectory, dataDirectory] = await Promise.all([makeDirectory(), makeDirectory()]);
      const { initdb, postgres } = await findBinaries(
        (await findClusterPlace(dataDirectory, () => undefined)).account,
        undefined,
      );
      await symlink(postgres, join(binaryDirectory, 'postgres'));
      await writeFile(join(binaryDirectory, 'initdb'), `#!/bin/sh\nulimit -f 100\nexec ${initdb} "$@"\n`, {
        mode: 0o755,
      });

      await expect(start({ dataDirectory, binaryDirectory })).rejects.toThrow(
        /^PostgreSQL could not create a database in \S+: could not write to file .*: File too large$/,
      );

      expect(await query((await start({ dataDirectory })).url, 'select 1 as one')).toEqual([{ one: 1 }]);
      await Promise.all([binaryDirectory, dataDirectory].map((path) => rm(path, { recursive: true })));
    },
  );

  it('names the remedy if there are no binaries', async () => {
    await expect(start({ binaryDirectory: '/nowhere' })).rejects.toThrow(
      '/nowhere/postgres does not run here. Set DATABASE_URL to a PostgreSQL server.',
    );
  });

  it('separates two data directories', async () => {
    const other = await makeDirectory();
    const [here, there] = await Promise.all([start(), start({ dataDirectory: other })]);

    const identify = 'select system_identifier as id from pg_control_system()';
    expect(await query(here.url, identify)).not.toEqual(await query(there.url, identify));
    expect(new URL(here.url).password).not.toBe(new URL(there.url).password);

    await there.stop();
    await rm(other, { recursive: true });
  });

  itAsRoot('moves the cluster to a folder that its account can reach, and logs the folder', async () => {
    const unreachable = await mkdtemp(join(tmpdir(), 'svc-unreachable-'));
    const lines: string[] = [];
    const first = await start({ dataDirectory: unreachable, log: (line) => lines.push(line) });
    const home = fallbackFolder(unreachable, await readFile(join(unreachable, 'postgres-identity'), 'utf8'));
    await query(first.url, 'create table kept as select 7 as n');
    await first.stop();

    const second = await start({ dataDirectory: unreachable });

    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
    const { uid } = await stat(home);
    expect(lines).toEqual([
      `PostgreSQL keeps its data in ${home}: its account (uid ${uid}) cannot reach ${unreachable}`,
    ]);
    expect(uid).not.toBe(0);

    await second.stop();
    await rm(home, { recursive: true });
    await rm(unreachable, { recursive: true });
  });
});

describe(fallbackFolder.name, () => {
  it('differs for two paths with a common end, and for a new data directory at the same path', () => {
    const folders = [
      fallbackFolder('/root/a/clone/of/the/server/data', 'first'),
      fallbackFolder('/root/b/clone/of/the/server/data', 'first'),
      fallbackFolder('/root/a/clone/of/the/server/data', 'second'),
    ];

    expect(new Set(folders.map(dirname))).toEqual(new Set(['/var/lib/svc-health-server']));
    expect(new Set(folders).size).toBe(3);
  });
});

/** A folder that PostgreSQL's account can open. */
async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-embedded-'));
  await chmod(directory, 0o755);
  return directory;
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // ignored, since a broken connection also fails its current query
  await client.connect();
  return client;
}

async function query(url: string, sql: string, parameters: unknown[] = []): Promise<unknown[]> {
  const client = await connect(url);
  try {
    return (await client.query<object>(sql, parameters)).rows;
  } finally {
    await client.end();
  }
}

/** Inserts 1, 2, 3, … one by one until the connection breaks, and returns the number of acknowledged inserts. */
async function insertUntilCut(url: string, onAcknowledged: (count: number) => void): Promise<number> {
  const client = await connect(url);
  for (let count = 0; ; count++) {
    onAcknowledged(count);
    try {
      await client.query('insert into acknowledged values ($1)', [count + 1]);
    } catch {
      return count;
    }
  }
}
