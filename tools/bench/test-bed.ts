import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { ChildServer } from './child-server';
import { type Cleanup } from './cleanup';
import { CpuMeter } from './cpu-meter';
import { loadCharts } from './load-charts';
import { newServer } from './new-server';
import { postgresFacts, runQuery, databaseUrlOf } from './own-database';
import { loginOf, prepareServer } from './prepare-server';
import { type Contender } from './run-case';
import { WebhookReceiver } from './webhook-receiver';

/** Links of answers begin with it; nobody follows them. */
const BASE_URL = 'http://bench.example';

/** A server of ours with the database that it alone uses. */
export interface OwnContender extends Contender {
  readonly meter: CpuMeter;
  readonly databaseUrl: string;
}

/** The server and its floor on one PostgreSQL, with equal databases, and a receiver of webhooks. */
export interface TestBed {
  readonly server: OwnContender;
  readonly floor: OwnContender;
  readonly receiver: WebhookReceiver;
  readonly postgresVersion: string;
  /** The form that gets a token of the server. */
  readonly login: Readonly<Record<string, string>>;
}

/** Starts everything in a new folder; `cleanup` ends and removes all of it. */
export async function setUpTestBed(cleanup: Cleanup): Promise<TestBed> {
  const receiver = await cleanup.undoing(WebhookReceiver.start(), (started) => started.stop());
  const folder = await cleanup.undoing(makeFolder(), (path) => rm(path, { recursive: true, force: true }));
  const postgres = await cleanup.undoing(startEmbeddedPostgres({ dataDirectory: folder }), (started) => started.stop());
  const { secrets, variables: given } = newServer(databaseUrlOf(postgres.url, 'bench_server'));
  const variables = { ...given, BASE_URL, DATA_DIR: folder };
  const start = (script: string, given: Readonly<Record<string, string>>): Promise<ChildServer> =>
    cleanup.undoing(ChildServer.start(resolve('dist', script), given), (started) => started.stop());

  await runQuery(postgres.url, 'create database bench_server');
  const first = await start('src/main.js', variables);
  const authorization = `Bearer ${await prepareServer(first.url, secrets, receiver.url)}`;
  await loadCharts({ name: 'server', baseUrl: `${first.url}/fhir`, authorization });
  // A database is copied while nobody uses it: the floor gets the same rows, and the same token opens it.
  await first.stop();
  await runQuery(variables.DATABASE_URL, 'vacuum analyze');
  await runQuery(postgres.url, 'create database bench_floor template bench_server');

  const { postmasterPid, version } = await postgresFacts(postgres.url);
  const contender = async (name: string, script: string, given: { DATABASE_URL: string }): Promise<OwnContender> => {
    const { url, pid } = await start(script, given);
    const meter = new CpuMeter(pid, postmasterPid);
    return { name, baseUrl: `${url}/fhir`, authorization, meter, databaseUrl: given.DATABASE_URL };
  };
  return {
    server: await contender('server', 'src/main.js', variables),
    floor: await contender('floor', 'tools/bench/floor-server.js', {
      DATABASE_URL: databaseUrlOf(postgres.url, 'bench_floor'),
    }),
    receiver,
    postgresVersion: version,
    login: loginOf(secrets),
  };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  // PostgreSQL runs as another account where the bench runs as root; what it keeps there is closed to everybody else.
  await chmod(folder, 0o755);
  return folder;
}
