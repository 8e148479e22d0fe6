import 'reflect-metadata';
import { startServer } from './boot';
import { ServiceError } from './platform/errors/service-error';
import { StartError } from './platform/errors/start-error';
import { EnvironmentError, readEnvironment } from './platform/config/environment';
import { errorTrace } from './platform/logging/error-trace';

/** Lines for the person who starts the server; what runs afterwards is logged as JSON. */
const tell = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

// A full disk (ENOSPC) or a log reader that has ended (EPIPE) loses lines, not the service: an 'error' without a listener ends the process.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

async function main(): Promise<void> {
  const environment = readEnvironment();
  const server = await startServer(environment, tell);
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
  tell(`Listening on ${server.url} (${Math.round(process.uptime() * 10) / 10} s).${docs}`);
}

/** Errors that say to people what is wrong and what to do: frames of code would hide it. */
const isSentence = (error: unknown): error is Error =>
  error instanceof EnvironmentError || error instanceof StartError || error instanceof ServiceError;

function fail(error: unknown, text = errorTrace(error)): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

// Node would print all that an error holds: PostgreSQL's the row that failed.
process.on('uncaughtException', (error) => fail(error));
main().catch((error: unknown) => fail(error, isSentence(error) ? error.message : undefined));
