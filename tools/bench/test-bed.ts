import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type PostgresSettings } from '../../src/platform/database/embedded/server-settings';
import { ChildServer } from './child-server';
import { type Cleanup } from './cleanup';
import { CpuMeter } from './cpu-meter';
import { loadCharts } from './load-charts';
import { newServer } from './new-server';
import { postgresFacts, runQuery, databaseUrlOf } from './own-database';
import { type FirstSecrets, prepareServer } from './prepare-server';
import { type Contender } from './run-case';
import { startCluster } from './start-cluster';
import { WebhookReceiver } from './webhook-receiver';

/** The base of links in responses; no client follows them. */
const BASE_URL = 'http://bench.example';

/** A server of this build with its own database. */
export interface OwnContender extends Contender {
  readonly meter: CpuMeter;
  readonly pid: number;
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

/** Options of a bed that differ from the default. */
export interface BedOptions {
  /** The folder of the compiled server. */
  readonly build?: string;
  /** Environment variables of the server. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly postgres?: PostgresSettings;
  /** Fills the empty database before a server uses it. */
  readonly fill?: (databaseUrl: string) => Promise<void>;
}

export interface ServerBed {
  readonly server: OwnContender;
  readonly receiver: WebhookReceiver;
  readonly postgresVersion: string;
  /** Secrets of the Client `root` and the User `admin`. */
  readonly secrets: FirstSecrets;
  /** Starts a server on the same data, after the last one was stopped. */
  readonly startAgain: () => Promise<OwnContender>;
}

/** The server and, in addition, the baseline, on the same PostgreSQL with an equal database. */
export interface TestBed extends ServerBed {
  readonly baseline: OwnContender;
}

/** Starts everything in a new folder; `cleanup` stops and removes it. */
export async function setUpTestBed(cleanup: Cleanup, options: BedOptions = {}): Promise<TestBed> {
  const ground = await layGround(cleanup, options);
  // The database is copied before a server uses it. The baseline gets the same rows, and the same token is valid there.
  await runQuery(ground.postgresUrl, 'create database bench_baseline template bench_server');
  const bed = await ground.startServer();
  const variables = { DATABASE_URL: databaseUrlOf(ground.postgresUrl, 'bench_baseline') };
  return { ...bed, baseline: await ground.start('baseline', 'tools/bench/baseline-server.js', variables) };
}

/** Starts everything except the baseline, which uses some CPU even when idle. */
export async function setUpServer(cleanup: Cleanup, options: BedOptions = {}): Promise<ServerBed> {
  return (await layGround(cleanup, options)).startServer();
}

const MOST_INDEXING_MILLISECONDS = 600_000;

/**
 * Waits until no index job is left. The server indexes a database that was filled without it, and that work would
 * count in the measurement.
 * @throws Error after ten minutes, as when the server has ended
 */
async function untilIndexed(databaseUrl: string): Promise<void> {
  const pending = `select from search_parameter_state where state <> 'active'`;
  const endsAt = performance.now() + MOST_INDEXING_MILLISECONDS;
  while ((await runQuery(databaseUrl, pending)).length > 0) {
    if (performance.now() > endsAt) throw new Error('The index job of the filled database did not end in ten minutes');
    await delay(200);
  }
}

/** An unused database with charts, and functions that start servers. */
interface Ground {
  readonly postgresUrl: string;
  start(name: string, script: string, variables: Variables): Promise<OwnContender>;
  startServer(): Promise<ServerBed>;
}

type Variables = Readonly<Record<string, string>> & { readonly DATABASE_URL: string };

async function layGround(cleanup: Cleanup, { build = 'dist', ...options }: BedOptions = {}): Promise<Ground> {
  const receiver = await cleanup.undoing(WebhookReceiver.start(), (started) => started.stop());
  const cluster = await startCluster(cleanup, options.postgres);
  const { secrets, variables: given } = newServer(databaseUrlOf(cluster.url, 'bench_server'));
  const variables = { ...given, BASE_URL, DATA_DIR: cluster.folder, ...options.variables };
  const spawn = (script: string, environment: Variables): Promise<ChildServer> =>
    cleanup.undoing(ChildServer.start(resolve(build, script), environment), (started) => started.stop());

  await runQuery(cluster.url, 'create database bench_server');
  await options.fill?.(variables.DATABASE_URL);
  const first = await spawn('src/main.js', variables);
  const authorization = `Bearer ${await prepareServer(first.url, secrets, receiver.url)}`;
  await loadCharts({ name: 'server', baseUrl: `${first.url}/fhir`, authorization });
  if (options.fill !== undefined) await untilIndexed(variables.DATABASE_URL);
  await first.stop();
  await runQuery(variables.DATABASE_URL, 'vacuum analyze');

  const { postmasterPid, version } = await postgresFacts(cluster.url);
  const start: Ground['start'] = async (name, script, environment) => {
    const child = await spawn(script, environment);
    return {
      ...{ name, baseUrl: `${child.url}/fhir`, authorization, databaseUrl: environment.DATABASE_URL },
      ...{ pid: child.pid, meter: new CpuMeter(child.pid, postmasterPid) },
      stop: () => child.stop(),
    };
  };
  const startAgain = (): Promise<OwnContender> => start('server', 'src/main.js', variables);
  return {
    postgresUrl: cluster.url,
    start,
    startServer: async () => ({
      ...{ server: await startAgain(), startAgain, receiver },
      ...{ postgresVersion: version, secrets },
    }),
  };
}
