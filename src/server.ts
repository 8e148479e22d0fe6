import { type Type } from '@nestjs/common';
import { type RunningServer, startServer } from './boot';
import { EnvironmentError, readEnvironment } from './platform/config/environment';
import { ServiceError } from './platform/errors/service-error';
import { StartError } from './platform/errors/start-error';
import { errorTrace } from './platform/logging/error-trace';

export interface ServerOptions {
  /** Modules of your own (docs/extending.md). */
  readonly modules?: readonly Type[];
  /** Settings as in docs/operations.md; default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Receives what the start has to say, a line at a time; default: nobody. */
  readonly log?: (line: string) => void;
}

/**
 * Starts a server with modules of your own: database, migrations, HTTP.
 * @returns when it listens
 * @throws EnvironmentError for settings that are wrong or missing, StartError where the database cannot be used
 * @example
 * const server = await createServer({ modules: [WardModule], environment: { PORT: '0', DATA_DIR: './data' } });
 * console.log(server.url);
 * await server.stop();
 */
export function createServer({ modules, environment, log }: ServerOptions = {}): Promise<RunningServer> {
  return startServer(readEnvironment(environment), log ?? (() => undefined), modules);
}

/**
 * Runs a server as the one thing that this process does: prints its address, stops at SIGINT and SIGTERM, and ends the process with one
 * sentence when it cannot start.
 * @example
 * runServer({ modules: [WardModule] });
 */
export function runServer(options: Omit<ServerOptions, 'log'> = {}): void {
  // A full disk (ENOSPC) or a log reader that has ended (EPIPE) loses lines, not the service: an 'error' without a listener ends the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // Node would print all that an error holds: PostgreSQL's the row that failed.
  process.on('uncaughtException', (error) => fail(error));
  run(options).catch((error: unknown) => fail(error, isSentence(error) ? error.message : undefined));
}

async function run({ modules, environment: variables }: Omit<ServerOptions, 'log'>): Promise<void> {
  const environment = readEnvironment(variables);
  const server = await startServer(environment, print, modules);
  // Own handlers instead of Nest's shutdown hooks: the embedded database has to outlive the application.
  let stopping: Promise<void> | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stopping ??= server.stop().then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
    });
  }
  void server.lost.then(() => fail(new Error('The embedded database ended. Start again: what was committed is kept.')));
  const docs = environment.hasApiDocs ? ` Swagger UI: ${environment.baseUrl}/api` : '';
  print(`Listening on ${server.url} (${Math.round(process.uptime() * 10) / 10} s).${docs}`);
}

/** Lines for the person who starts the server; what runs afterwards is logged as JSON. */
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Errors that say to people what is wrong and what to do: frames of code would hide it. */
const isSentence = (error: unknown): error is Error =>
  error instanceof EnvironmentError || error instanceof StartError || error instanceof ServiceError;

function fail(error: unknown, text = errorTrace(error)): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
