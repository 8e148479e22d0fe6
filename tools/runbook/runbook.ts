import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findUnprivilegedAccount, isRoot } from '../../src/platform/database/embedded/postgres-account';
import { declareRestore, releaseDelivery } from '../after-restore/declare-restore';
import { ChildServer } from '../bench/child-server';
import { Cleanup } from '../bench/cleanup';
import { newServer } from '../bench/new-server';
import { runQuery } from '../bench/own-database';
import { freePorts, postgresFolder, postgresPids, signalAll } from '../failover/programs';
import { HttpClient } from '../http-client';
import { jsonBody } from '../json-body';
import { readOptions } from '../options';

const USAGE = `npm run runbook: executes the blocks of docs/how-to/run-the-database.md on a temporary PostgreSQL, with a server before and after each.`;

const DOCUMENT = join('docs', 'how-to', 'run-the-database.md');

/** A block of the document: "# <how-to>: <step>" is its first line. */
const BLOCK = /^```sh\n# ([\w-]+): [^\n]*\n([\s\S]*?)^```$/gm;

const tell = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const IS_SYNCHRONOUS = `select from pg_stat_replication where application_name = 'standby1' and sync_state = 'sync'`;

const STEP_MILLISECONDS = 120_000;

type Variables = Readonly<Record<string, string>>;
type Method = 'DELETE' | 'GET' | 'PUT';

/** Runs the blocks of one how-to, one at each call. */
class Steps {
  private constructor(
    private readonly blocks: readonly string[],
    private readonly run: (script: string) => Promise<void>,
  ) {}

  private next = 0;

  static async of(howTo: string, run: (script: string) => Promise<void>): Promise<Steps> {
    const found = [...(await readFile(DOCUMENT, 'utf8')).matchAll(BLOCK)].filter(([, name]) => name === howTo);
    return new Steps(
      found.map(([, , script = '']) => script),
      run,
    );
  }

  async step(): Promise<void> {
    const script = this.blocks[this.next++];
    if (script === undefined) throw new Error(`${DOCUMENT} has no step ${this.next} there.`);
    await this.run(script);
  }
}

async function main(cleanup: Cleanup): Promise<void> {
  readOptions(USAGE, { options: {} });
  const binaries = await postgresFolder();
  const account = isRoot() ? await findUnprivilegedAccount() : undefined;
  const folder = await cleanup.undoing(mkdtemp(join(tmpdir(), 'svc-runbook-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  await chmod(folder, 0o755);
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  const [primaryPort = 0, standbyPort = 0] = await freePorts(2);
  const password = randomBytes(12).toString('hex');
  const urlOn = (port: number, database = 'postgres'): string =>
    `postgresql://svc:${password}@127.0.0.1:${port}/${database}`;
  const data = (name: string): string => join(folder, name);
  const variables: Variables = {
    ...{ PRIMARY_DATA: data('primary'), STANDBY_DATA: data('standby'), RESTORED_DATA: data('restored') },
    ...{ BACKUP: data('backup'), ARCHIVE: data('archive'), REPLICATOR_PASSWORD: randomBytes(12).toString('hex') },
    ...{ PRIMARY_URL: urlOn(primaryPort), STANDBY_URL: urlOn(standbyPort) },
    ...{ PRIMARY_HOST: '127.0.0.1', PRIMARY_PORT: String(primaryPort), STANDBY_PORT: String(standbyPort) },
  };
  const runWith =
    (more: Variables = {}) =>
    async (script: string): Promise<void> => {
      const env = { PATH: `${binaries}:${process.env.PATH ?? ''}`, HOME: folder, ...variables, ...more };
      await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
        ...account,
        cwd: folder,
        env,
        timeout: STEP_MILLISECONDS,
      });
    };
  await cleanup.undoing(runWith()(await firstCluster(folder, password)), async () => {
    for (const name of ['primary', 'standby', 'restored']) signalAll(await postgresPids(data(name)), 'SIGKILL');
    await delay(500);
  });

  const hosts = `127.0.0.1:${standbyPort},127.0.0.1:${primaryPort}`;
  const { secrets, variables: settings } = newServer(
    `postgresql://svc:${password}@${hosts}/postgres?target_session_attrs=read-write`,
  );
  const start = (): Promise<ChildServer> =>
    cleanup.undoing(ChildServer.start(resolve('dist', 'src', 'main.js'), settings), (server) => server.stop());
  const send = async (server: ChildServer, method: Method, id: string): Promise<number> => {
    const authorization = { user: 'root', password: secrets.rootSecret };
    const body = method === 'PUT' ? { body: jsonBody({ resourceType: 'Patient', id }) } : {};
    const path = `/fhir/Patient/${id}`;
    return (await new HttpClient(server.url).send({ method, path, authorization, ...body })).status;
  };
  const expect = async (server: ChildServer, method: Method, id: string, status: number): Promise<void> => {
    const found = await send(server, method, id);
    if (found !== status) throw new Error(`${method} of Patient/${id} was answered ${found}, not ${status}`);
  };

  let server = await start();
  const archiving = await Steps.of('point-in-time', (script) => runWith({ BEFORE_THE_ACCIDENT: before })(script));
  let before = '';
  await archiving.step();
  await archiving.step();
  await eventuallyWrites(server, send, 'kept');
  [{ before }] = (await runQuery<{ before: string }>(urlOn(primaryPort), 'select now()::text as before')) as [
    { before: string },
  ];
  await delay(1000);
  await expect(server, 'DELETE', 'kept', 200);
  await server.stop();
  await archiving.step();
  await declareRestore(settings.DATABASE_URL);
  server = await start();
  await expect(server, 'GET', 'kept', 200);
  await releaseDelivery(settings.DATABASE_URL);
  tell('point-in-time: what was deleted afterwards is there again');

  const adding = await Steps.of('add-standby', runWith());
  await adding.step();
  await adding.step();
  for (let tries = 0; (await runQuery(urlOn(primaryPort), IS_SYNCHRONOUS)).length === 0; tries++) {
    if (tries === 60) throw new Error('The standby does not follow.');
    await delay(500);
  }
  await expect(server, 'PUT', 'copied', 201);
  tell('add-standby: a write was acknowledged by both');

  signalAll(await postgresPids(data('restored')), 'SIGKILL');
  await (await Steps.of('promote', runWith())).step();
  await eventuallyWrites(server, send, 'after');
  await expect(server, 'GET', 'copied', 200);
  tell('promote: the server goes on with the new primary, without a restart');
}

/** Returns a script that makes the cluster of `PRIMARY_DATA` and starts it. */
async function firstCluster(folder: string, password: string): Promise<string> {
  const file = join(folder, 'password');
  await writeFile(file, password, { mode: 0o644 });
  await mkdir(join(folder, 'archive'), { mode: 0o777 });
  await chmod(join(folder, 'archive'), 0o777);
  return `initdb --pgdata="$PRIMARY_DATA" --username=svc --pwfile="${file}" --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
    echo "unix_socket_directories = '${folder}'" >> "$PRIMARY_DATA/postgresql.conf"
    pg_ctl start --wait --silent --pgdata="$PRIMARY_DATA" --log="$PRIMARY_DATA.log" --options="-p $PRIMARY_PORT"`;
}

/** Writes until the server has found the database again. */
async function eventuallyWrites(
  server: ChildServer,
  send: (server: ChildServer, method: Method, id: string) => Promise<number>,
  id: string,
): Promise<void> {
  for (let tries = 0; (await send(server, 'PUT', id)) > 299; tries++) {
    if (tries === 60) throw new Error('The server does not find the database again.');
    await delay(500);
  }
}

const cleanup = new Cleanup();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    void cleanup.run().then(() => process.exit(130));
  });
}
main(cleanup)
  .then(
    () => 0,
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      return 1;
    },
  )
  .then(async (code) => {
    await cleanup.run();
    process.exitCode = code;
  })
  .catch(() => undefined);
