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

/** The server with charts, and a receiver of webhooks. */
export interface ServerBed {
  readonly server: OwnContender;
  readonly receiver: WebhookReceiver;
  readonly postgresVersion: string;
  /** The form that gets a token of the server. */
  readonly login: Readonly<Record<string, string>>;
}

/** Beside it its floor, on the same PostgreSQL with an equal database. */
export interface TestBed extends ServerBed {
  readonly floor: OwnContender;
}

/** Starts everything in a new folder; `cleanup` ends and removes all of it. */
export async function setUpTestBed(cleanup: Cleanup): Promise<TestBed> {
  const ground = await layGround(cleanup);
  // A database is copied while nobody uses it: the floor gets the same rows, and the same token opens it.
  await runQuery(ground.postgresUrl, 'create database bench_floor template bench_server');
  const bed = await ground.startServer();
  const variables = { DATABASE_URL: databaseUrlOf(ground.postgresUrl, 'bench_floor') };
  return { ...bed, floor: await ground.start('floor', 'tools/bench/floor-server.js', variables) };
}

/** The same without the floor, which takes its share of the processors even when nobody asks it. */
export async function setUpServer(cleanup: Cleanup): Promise<ServerBed> {
  return (await layGround(cleanup)).startServer();
}

/** A database of the server with charts that nobody uses yet, and what starts servers. */
interface Ground {
  readonly postgresUrl: string;
  start(name: string, script: string, variables: Variables): Promise<OwnContender>;
  startServer(): Promise<ServerBed>;
}

type Variables = Readonly<Record<string, string>> & { readonly DATABASE_URL: string };

async function layGround(cleanup: Cleanup): Promise<Ground> {
  const receiver = await cleanup.undoing(WebhookReceiver.start(), (started) => started.stop());
  const folder = await cleanup.undoing(makeFolder(), (path) => rm(path, { recursive: true, force: true }));
  const postgres = await cleanup.undoing(startEmbeddedPostgres({ dataDirectory: folder }), (started) => started.stop());
  const { secrets, variables: given } = newServer(databaseUrlOf(postgres.url, 'bench_server'));
  const variables = { ...given, BASE_URL, DATA_DIR: folder };
  const spawn = (script: string, environment: Variables): Promise<ChildServer> =>
    cleanup.undoing(ChildServer.start(resolve('dist', script), environment), (started) => started.stop());

  await runQuery(postgres.url, 'create database bench_server');
  const first = await spawn('src/main.js', variables);
  const authorization = `Bearer ${await prepareServer(first.url, secrets, receiver.url)}`;
  await loadCharts({ name: 'server', baseUrl: `${first.url}/fhir`, authorization });
  await first.stop();
  await runQuery(variables.DATABASE_URL, 'vacuum analyze');

  const { postmasterPid, version } = await postgresFacts(postgres.url);
  const start: Ground['start'] = async (name, script, environment) => {
    const { url, pid } = await spawn(script, environment);
    const meter = new CpuMeter(pid, postmasterPid);
    return { name, baseUrl: `${url}/fhir`, authorization, meter, databaseUrl: environment.DATABASE_URL };
  };
  return {
    postgresUrl: postgres.url,
    start,
    startServer: async () => ({
      server: await start('server', 'src/main.js', variables),
      receiver,
      postgresVersion: version,
      login: loginOf(secrets),
    }),
  };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  // PostgreSQL runs as another account where the bench runs as root; what it keeps there is closed to everybody else.
  await chmod(folder, 0o755);
  return folder;
}
