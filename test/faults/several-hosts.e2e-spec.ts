import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type QueryResult } from 'pg';
import { StartError } from '../../src/platform/errors/start-error';
import { DatabaseClient } from '../../src/platform/database/database-client';
import { databaseErrorToServiceError } from '../../src/platform/database/database-error';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { migrate } from '../../src/platform/database/schema/migrate';
import { runStatement } from '../../testing/databases';
import { constant, withChanges } from '../support/changed-code';
import { DeliveryBed } from '../support/delivery-bed';
import { eventually } from '../../testing/eventually';

const ROLE = 'odd@role';
const PASSWORD = 'p@ss:w/ö#%,1';
/** A server that notices silent connections to PostgreSQL after 1 and 2 s. The usual times are 5 and 10 s. */
const SOON = withChanges(
  constant('database/silent-connections.js', 'SILENT_MILLISECONDS', ['5_000', '1_000']),
  constant('delivery/worker-identity.js', 'SILENT_MILLISECONDS', ['10_000', '2_000']),
);
/** An address at which nothing listens. */
const NOBODY = '127.0.0.1:1';

describe('O5: DATABASE_URL with a primary and a standby as hosts', () => {
  let folder: string;
  let primary: EmbeddedPostgres;
  let standby: EmbeddedPostgres;
  let silent: Server;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-hosts-'));
    await chmod(folder, 0o755); // the account of PostgreSQL must be able to open the folder
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    await promisify(execFile)('mkdir', [a]);
    const first = await start(a);
    await migrate(first.url);
    await runStatement(first.url, `create role "${ROLE}" login password '${PASSWORD}'`);
    await first.stop();
    await promisify(execFile)('cp', ['-a', a, b]);
    await writeFile(join(b, 'postgres', 'cluster', 'standby.signal'), '');
    primary = await start(a);
    const { port, username, password } = new URL(primary.url);
    const upstream = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
    standby = await start(b, { primary_conninfo: upstream });
    silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
  });
  afterAll(async () => {
    silent.close();
    await standby.stop();
    await primary.stop();
    await rm(folder, { recursive: true });
  });

  const start = (dataDirectory: string, settings = {}): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDirectory, isDurable: false, settings });
  const hostOf = ({ url }: EmbeddedPostgres): string => new URL(url).host;
  const silentHost = (): string => `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const urlOf = (hosts: readonly string[], parameters = ''): string =>
    primary.url.replace(hostOf(primary), hosts.join(',')) + parameters;

  /** Returns the host that accepted the connection. */
  async function connect(connectionString: string, connectionTimeoutMillis = 3_000): Promise<string> {
    const client = new DatabaseClient({ connectionString, connectionTimeoutMillis });
    await client.connect();
    await client.end();
    return `${client.host}:${client.port}`;
  }

  it.each([
    ['any', () => hostOf(standby)],
    ['primary', () => hostOf(primary)],
    ['read-write', () => hostOf(primary)],
  ])('selects with target_session_attrs=%s the first host of this kind', async (target, expected) => {
    const url = urlOf([NOBODY, hostOf(standby), hostOf(primary)], `?target_session_attrs=${target}`);
    expect(await connect(url)).toBe(expected());
  });

  it('selects the first reachable host without target_session_attrs', async () => {
    expect(await connect(urlOf([NOBODY, hostOf(standby)]))).toBe(hostOf(standby));
    expect(await connect(standby.url)).toBe(hostOf(standby));
  });

  it('tries the next host if one accepts the connection and does not respond', async () => {
    const startedAt = performance.now();
    expect(await connect(urlOf([silentHost(), hostOf(primary)]), 20_000)).toBe(hostOf(primary));
    expect(performance.now() - startedAt).toBeLessThan(15_000); // the limit of the whole connect is 20 s
  });

  it('reports the error of each host, and maps it to 503', async () => {
    const hosts = [NOBODY, '[::1]:1', hostOf(standby), silentHost()];
    const url = urlOf(hosts, '?target_session_attrs=read-write');
    const error: unknown = await connect(url, 1_000).catch((e: unknown) => e);
    const [nobody, ipv6, standbyHost, silentOne] = hosts;
    expect(String(error)).toMatch(
      `${nobody}: connect ECONNREFUSED 127.0.0.1:1; ${ipv6}: connect E`, // the code differs on machines without IPv6
    );
    expect(String(error)).toMatch(`::1:1`);
    expect(String(error)).toMatch(`; ${standbyHost}: is a standby; ${silentOne}: timeout expired`);
    expect(databaseErrorToServiceError(error)?.kind).toBe('busy');
    expect(String(error)).not.toContain(new URL(primary.url).password);
  });

  it('is refused if its only host is a standby and target_session_attrs is primary', async () => {
    await expect(connect(`${standby.url}?target_session_attrs=primary`)).rejects.toThrow('is a standby');
  });

  it('may contain escaped special characters in user and password', async () => {
    const userinfo = `${encodeURIComponent(ROLE)}:${encodeURIComponent(PASSWORD)}`;
    const url = `postgresql://${userinfo}@${NOBODY},${hostOf(primary)}/postgres`;
    expect(await connect(url)).toBe(hostOf(primary));
  });

  it('is refused with another value of target_session_attrs', () => {
    expect(() => new DatabaseClient({ connectionString: urlOf([NOBODY], '?target_session_attrs=standby') })).toThrow(
      new StartError('DATABASE_URL has target_session_attrs=standby. Possible values: any, primary, read-write.'),
    );
  });

  /** Signals the postmaster and all its children: like a machine that hangs, they keep their connections open. */
  async function signalPrimary(signal: NodeJS.Signals): Promise<void> {
    const file = join(folder, 'a', 'postgres', 'cluster', 'postmaster.pid');
    const [postmaster = ''] = (await readFile(file, 'utf8')).split('\n');
    const parameters = ['-o', 'pid=', '--pid', postmaster, '--ppid', postmaster];
    const { stdout } = await promisify(execFile)('ps', parameters);
    for (const pid of stdout.trim().split('\n')) process.kill(Number(pid), signal);
  }

  it('O11: follows a promotion beside a frozen primary without a restart, and delivery continues', async () => {
    const databaseUrl = urlOf([hostOf(standby), hostOf(primary)], '?target_session_attrs=read-write');
    const database = { name: 'postgres', url: databaseUrl, drop: () => Promise.resolve() };
    const bed = await DeliveryBed.open(SOON, database);
    try {
      const server = await bed.start();
      await server.makeDestination();
      expect((await server.putPatient('before')).status).toBe(201);
      await server.delivered(1);
      const { rows } = await run<{ position: string }>(primary, 'select pg_current_wal_insert_lsn()::text as position');
      const isThere = `select pg_last_wal_replay_lsn() >= '${rows[0]?.position ?? ''}' as found`;
      await eventually(
        'the standby has it',
        async () => (await run<{ found: boolean }>(standby, isThere)).rows[0]?.found,
      );
      await signalPrimary('SIGSTOP');
      const sent = server.putPatient('between');
      await run(standby, 'select pg_promote()');
      const between = await sent;
      expect([between.status, between.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[15]$/)]);
      const after = await server.putPatient('after');
      expect([after.status, (await server.send('GET', '/Patient/before')).status]).toEqual([201, 200]);
      await server.delivered(2);
    } finally {
      await signalPrimary('SIGCONT');
      await bed.close();
    }
  });
});

async function run<Row extends object>({ url }: EmbeddedPostgres, sql: string): Promise<QueryResult<Row>> {
  const client = new DatabaseClient({ connectionString: url });
  await client.connect();
  try {
    return await client.query<Row>(sql);
  } finally {
    await client.end();
  }
}
