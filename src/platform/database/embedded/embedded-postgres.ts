import { clusterFolder, clusterUser, findClusterPlace, openCluster } from './cluster';
import { takeDataDirectory } from './data-directory';
import { endLeftoverPostmaster } from './leftover-postmaster';
import { findBinaries } from './postgres-binaries';
import { startPostmaster } from './postmaster';
import { settingsParameters, type PostgresSettings } from './server-settings';

export interface EmbeddedPostgresOptions {
  /** The folder of this server; its cluster is kept in `postgres` below it. */
  readonly dataDirectory: string;
  /** False turns fsync off, for tests: a crash of the machine may lose everything. Default true. */
  readonly isDurable?: boolean;
  /** The folder of `initdb` and `postgres`. Default: those that npm installed. */
  readonly binaryDirectory?: string | undefined;
  /** Settings of postgresql.conf that win over ours. */
  readonly settings?: PostgresSettings;
  /** Takes the few lines that an operator has to know; routine is not among them. */
  readonly log?: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** `postgresql://user:password@127.0.0.1:port/database`; user and password own the cluster. */
  readonly url: string;
  /** Stops the server and waits until its processes are gone. */
  stop(): Promise<void>;
  /** Settles when the server ended without having been stopped. */
  readonly lost: Promise<void>;
}

/**
 * Starts a private PostgreSQL, for which nothing need be installed but what npm brings. It takes the data directory, so
 * that there is one server on it, and ends a server that a killed process left there; what was committed is kept.
 * @throws StartError when the data directory is in use, or PostgreSQL does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const taken = await takeDataDirectory(options.dataDirectory);
  try {
    const server = await start(options);
    return {
      url: server.url,
      lost: server.lost,
      stop: async () => {
        await server.stop();
        await taken.release();
      },
    };
  } catch (error) {
    await taken.release();
    throw error;
  }
}

async function start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDirectory, isDurable = true, binaryDirectory, settings, log = () => undefined } = options;
  const place = await findClusterPlace(dataDirectory, log);
  const binaries = await findBinaries(place.account, binaryDirectory);
  const password = await openCluster(place, binaries, isDurable);
  const folder = clusterFolder(place.home);
  await endLeftoverPostmaster(folder);
  const postmaster = await startPostmaster({
    binaries,
    account: place.account,
    clusterFolder: folder,
    settings: settingsParameters(isDurable, settings),
    log,
  });
  return {
    url: `postgresql://${clusterUser}:${password}@127.0.0.1:${postmaster.port}/postgres`,
    lost: postmaster.lost,
    stop: () => postmaster.stop(),
  };
}
