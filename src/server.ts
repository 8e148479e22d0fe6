import { setFlagsFromString } from 'node:v8';
import { type DynamicModule, Logger, type Type } from '@nestjs/common';
import { type RunningServer, type startServer } from './boot';
import {
  type Environment,
  EnvironmentError,
  readEnvironment,
  readEnvironmentOfOne,
} from './platform/config/environment';
import { shareOf, workerRole } from './platform/config/processes';
import { assertDefinition, type Members } from './platform/discovery/definition';
import { ServiceError } from './platform/errors/service-error';
import { StartError } from './platform/errors/start-error';
import { ContextLogger } from './platform/logging/context-logger';
import { assertPortsFree } from './platform/http/free-ports';
import { errorTrace } from './platform/logging/error-trace';
import { MetricsServer } from './platform/metrics/metrics-server';
import { takeOrders } from './platform/processes/worker';
import { Workers } from './platform/processes/workers';
import { RequestContext } from './platform/request/request-context';

/** Options of {@link createServer}. */
export interface ServerOptions {
  /** Modules of your own (docs/how-to/extend.md). */
  readonly modules?: readonly (Type | DynamicModule)[];
  /** Settings as in docs/reference/settings.md; default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Receives the messages of the start, one line at a time; by default they are dropped. */
  readonly log?: (line: string) => void;
}

const OPTIONS: Members<ServerOptions> = {
  'modules?': { each: 'module' },
  'environment?': 'object',
  'log?': 'function',
};

/**
 * Starts a server with modules of your own in this process: database, migrations, HTTP. `SVC_PROCESSES` is not read.
 * @returns when it listens
 * @throws EnvironmentError for settings that are wrong or missing, StartError where the database cannot be used
 * @example
 * const server = await createServer({ modules: [WardModule], environment: { PORT: '0', DATA_DIR: './data' } });
 * console.log(server.url);
 * await server.stop();
 */
export function createServer(options: ServerOptions = {}): Promise<RunningServer> {
  assertDefinition(options, OPTIONS, 'createServer');
  const { modules, environment, log } = options;
  return loadAndStart(readEnvironmentOfOne(environment), log ?? (() => undefined), modules);
}

/**
 * Runs a server as the only work of this process: prints its address, stops at SIGINT and SIGTERM, and exits with a
 * one-sentence message if it cannot start. With `SVC_PROCESSES`, it runs the script of this process in that many
 * others, which serve.
 * @example
 * runServer({ modules: [WardModule] });
 */
export function runServer(options: Omit<ServerOptions, 'log'> = {}): void {
  // Ignore a full disk (ENOSPC) or a log reader that has ended (EPIPE): log lines are lost, but an 'error' event
  // without a listener would end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // V8 may decide to create some objects in its old generation. Such objects refer to requests, which then cannot be
  // collected in the young generation: a `$everything` then promoted 240 kB instead of 12 kB (ADR 0072).
  setFlagsFromString('--no-allocation-site-pretenuring');
  // By default, Node prints all members of an error, and those of PostgreSQL have the row that failed.
  process.on('uncaughtException', (error) => fail(error));
  run(options).catch((error: unknown) => fail(error, isSentence(error) ? error.message : undefined));
}

/**
 * Loads the code of a start. The application, which takes a second of CPU time and 70 MB, is loaded once the database
 * is ready (boot.ts). A process that only starts others loads neither, nor does a start whose settings are wrong.
 */
const loadAndStart: typeof startServer = async (...settings) => (await import('./boot.js')).startServer(...settings);

async function run(options: Omit<ServerOptions, 'log'>): Promise<void> {
  assertDefinition(options, OPTIONS, 'runServer');
  const { modules, environment: variables } = options;
  const environment = readEnvironment(variables);
  const role = workerRole();
  if (role !== undefined) {
    // Only one process of a start applies the Bundle of `SVC_INIT_BUNDLE`.
    const { initBundle } = environment;
    const share = shareOf({ ...environment, initBundle: role === 'first' ? initBundle : undefined });
    const server = await loadAndStart(share, print, modules, true);
    takeOrders(server, (stopped) => void end(stopped));
    stopBySignal(server);
    return;
  }
  if (environment.processesNote !== undefined) print(environment.processesNote);
  if (environment.processes === 1) {
    const server = await loadAndStart(environment, print, modules);
    stopBySignal(server, environment);
    void server.lost.then(() =>
      fail(new Error('The embedded database ended. Start again: what was committed is kept.')),
    );
    tellAddress(environment, server.url);
  } else await runWorkers(environment);
}

async function runWorkers(environment: Environment): Promise<void> {
  await assertPortsFree(environment);
  Logger.overrideLogger(new ContextLogger(environment.logLevel, new RequestContext()));
  const workers = new Workers(environment.processes, (reason) => fail(undefined, reason));
  const metrics = new MetricsServer(workers, environment);
  const stop = async (): Promise<void> => {
    await workers.stop();
    metrics.onApplicationShutdown();
  };
  stopBySignal({ stop }, environment);
  await metrics.listen();
  process.on('SIGHUP', () => void workers.replaceAll());
  const url = await workers.start().catch(() => process.exit(1)); // the error is already printed
  tellAddress(environment, url);
}

/**
 * Own handlers instead of Nest's shutdown hooks: the embedded database has to outlive the application.
 * @param logged settings that the log line of the stop names; absent in a process whose parent logs it
 */
function stopBySignal({ stop }: Pick<RunningServer, 'stop'>, logged?: Environment): void {
  let stopping: Promise<void> | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stopping ??= end(logged === undefined ? stop() : logStop(signal, stop, logged));
    });
  }
}

async function logStop(
  signal: string,
  stop: RunningServer['stop'],
  { drainSeconds, shutdownSeconds }: Environment,
): Promise<void> {
  const logger = new Logger('Shutdown');
  logger.log(
    `${signal}: the port closes in ${drainSeconds} s (SVC_DRAIN_SECONDS), then requests and deliveries in progress have ${shutdownSeconds} s to end (SVC_SHUTDOWN_SECONDS)`,
  );
  const since = performance.now();
  await stop();
  logger.log(`Stopped after ${Math.round((performance.now() - since) / 100) / 10} s`);
}

const end = (stopped: Promise<void>): Promise<void> =>
  stopped.then(
    () => process.exit(0),
    (error: unknown) => fail(error),
  );

function tellAddress({ hasApiDocs, baseUrl, processes }: Environment, url: string): void {
  const together = processes === 1 ? '' : `, ${processes} processes`;
  const docs = hasApiDocs ? ` Swagger UI: ${baseUrl}/api` : '';
  print(`Listening on ${url} (${Math.round(process.uptime() * 10) / 10} s${together}).${docs}`);
}

/** Lines for the person who starts the server; later messages are logged as JSON. */
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Errors whose message tells people what to do: a stack trace would hide it. */
const isSentence = (error: unknown): error is Error =>
  error instanceof EnvironmentError || error instanceof StartError || error instanceof ServiceError;

function fail(error: unknown, text = errorTrace(error)): never {
  if (!isOrphaned(error)) process.stderr.write(`${text}\n`);
  process.exit(1);
}

/**
 * Whether the parent process of this one has ended, for example by SIGKILL while this one loaded its modules. Then the
 * first message to the parent fails, often before Node's cluster receives 'disconnect' and ends this process.
 */
const isOrphaned = (error: unknown): boolean =>
  workerRole() !== undefined && (!process.connected || (error as NodeJS.ErrnoException | undefined)?.code === 'EPIPE');
