import { type DynamicModule, type Type } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { type Environment } from './platform/config/environment';
import { completeCredentials } from './platform/config/local-credentials';
import { dataDirectoryRefusal } from './platform/database/embedded/data-directory';
import { startEmbeddedPostgres } from './platform/database/embedded/embedded-postgres';
import { migrationSetsOf } from './platform/database/schema/brings-migrations';
import { migrate } from './platform/database/schema/migrate';
import { waitForDatabase } from './platform/database/schema/wait-for-database';
import { assertPortsFree, portRefusal } from './platform/http/free-ports';
import { Drain } from './platform/health/drain';
import { Metrics } from './platform/metrics/metrics';
import { assertEncryptionKeySet, checkStart, isNewDatabase } from './start-checks';

export interface RunningServer {
  readonly url: string;
  /** Ends requests and deliveries in flight, the application, and the embedded database. */
  stop(): Promise<void>;
  /** Settles if the embedded database exits by itself: this process is then useless. */
  readonly lost: Promise<void>;
}

/** A server process whose clients another process on the same port can serve. */
export interface StartedServer extends RunningServer {
  readonly metrics: Metrics;
  /** Leaves its clients to other processes on the same port, then stops. */
  retire(): Promise<void>;
}

/**
 * Starts the embedded database if no other is configured, migrates the database, and listens. If a step fails, stops
 * what was started.
 * @param isWorker whether this is one of several processes, whose parent has checked the ports and serves the metrics
 */
export async function startServer(
  given: Environment,
  tell: (line: string) => void,
  extensions: readonly (Type | DynamicModule)[] = [],
  isWorker = false,
): Promise<StartedServer> {
  if (!isWorker) await assertPortsFree(given);
  const database = await startDatabase(given, tell);
  try {
    const checkDatabase = await checkStart(database.environment);
    const directUrl = given.databaseDirectUrl ?? database.url;
    if (given.databaseUrl !== undefined) {
      for (const url of new Set([directUrl, given.databaseUrl]))
        await waitForDatabase(url, given.databaseWaitSeconds, tell);
    }
    await migrate(directUrl, tell, migrationSetsOf(extensions), checkDatabase);
    // Loaded only now: a start without a usable database fails after half the CPU time.
    const { createApp, listen } = await import('./app.setup.js');
    const app = await createApp({ environment: database.environment, databaseUrl: database.url, extensions });
    try {
      await listen(app, given.port, given.host, !isWorker).catch((error: unknown) => {
        throw portRefusal('PORT', error) ?? error;
      });
      return runningServer(app, await app.getUrl(), database);
    } catch (error) {
      await app.close();
      throw error;
    }
  } catch (error) {
    await database.stop();
    throw error;
  }
}

interface Database {
  readonly url: string;
  /** The given settings, with the keys and credentials of the embedded database. */
  readonly environment: Environment;
  readonly stop: () => Promise<void>;
  readonly lost: Promise<void>;
}

async function startDatabase(environment: Environment, tell: (line: string) => void): Promise<Database> {
  if (environment.databaseUrl !== undefined) {
    assertEncryptionKeySet(environment);
    // `lost` never resolves: the server waits for an external database that is lost, since its operator restarts it.
    return {
      url: environment.databaseUrl,
      environment,
      stop: () => Promise.resolve(),
      lost: new Promise(() => undefined),
    };
  }
  return startOwnDatabase(environment, tell).catch((error: unknown) => {
    throw dataDirectoryRefusal(environment.dataDirectory, error) ?? error;
  });
}

async function startOwnDatabase(environment: Environment, tell: (line: string) => void): Promise<Database> {
  const { dataDirectory, postgresBinDirectory } = environment;
  const postgres = await startEmbeddedPostgres({
    dataDirectory,
    log: tell,
    binaryDirectory: postgresBinDirectory,
  });
  try {
    return {
      url: postgres.url,
      environment: await completeCredentials(environment, tell, () => isNewDatabase(postgres.url)),
      stop: () => postgres.stop(),
      lost: postgres.lost,
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

function runningServer(
  app: NestExpressApplication,
  url: string,
  { lost, stop: stopDatabase }: Database,
): StartedServer {
  const drain = app.get(Drain, { strict: false });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= end());
  /** The database stops last, since work that still runs in the application needs it to finish. */
  async function end(): Promise<void> {
    try {
      await drain.run(app.getHttpServer());
      await app.close();
    } finally {
      await stopDatabase();
    }
  }
  const retire = async (): Promise<void> => {
    await drain.retire(app.getHttpServer());
    await stop();
  };
  return { url, stop, retire, lost, metrics: app.get(Metrics, { strict: false }) };
}
