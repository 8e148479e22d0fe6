import { clusterFolder, clusterUser, findClusterPlace, openCluster } from './cluster';
import { takeDataDirectory } from './data-directory';
import { endLeftoverPostmaster } from './leftover-postmaster';
import { findBinaries } from './postgres-binaries';
import { type Postmaster, startPostmaster } from './postmaster';
import { settingsParameters, type PostgresSettings } from './server-settings';

export interface EmbeddedPostgresOptions {
  /** The data directory of this server. The cluster is in its subfolder `postgres`. */
  readonly dataDirectory: string;
  /** False disables fsync, for tests. A crash of the machine may then lose all data. Default: true. */
  readonly isDurable?: boolean;
  /** The folder of `initdb` and `postgres`. Default: the folder that npm installed. */
  readonly binaryDirectory?: string | undefined;
  /** Settings of postgresql.conf that override the defaults of this server. */
  readonly settings?: PostgresSettings;
  /** Receives the few messages that an operator needs, without routine messages. */
  readonly log?: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** The URL of the database: `postgresql://user:password@127.0.0.1:port/database`. The user owns the cluster. */
  readonly url: string;
  stop(): Promise<void>;
  /** Resolves or rejects if PostgreSQL ends without being stopped. */
  readonly lost: Promise<void>;
}

/**
 * Starts a private PostgreSQL from the programs that npm installed. It locks the data directory, so that only one
 * server uses it. If a killed process left a running PostgreSQL there, that is ended; committed data stay.
 * @throws StartError if the data directory is in use, or PostgreSQL does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const release = await takeDataDirectory(options.dataDirectory);
  try {
    const [password, postmaster] = await start(options);
    return {
      url: `postgresql://${clusterUser}:${password}@127.0.0.1:${postmaster.port}/postgres`,
      lost: postmaster.lost,
      stop: async () => {
        await postmaster.stop();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

async function start(options: EmbeddedPostgresOptions): Promise<readonly [password: string, postmaster: Postmaster]> {
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
  return [password, postmaster];
}
