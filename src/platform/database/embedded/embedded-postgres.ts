import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isSystemError } from '../../errors/system-error';
import { clusterFolder, clusterUser, findClusterPlace, openCluster, passwordFile } from './cluster';
import { takeDataDirectory } from './data-directory';
import { endLeftoverPostmaster, isPostmaster } from './leftover-postmaster';
import { findBinaries } from './postgres-binaries';
import { startPostmaster } from './postmaster';
import { findPostmasterPid } from './postmaster-pid-file';
import { settingsParameters, type PostgresSettings } from './server-settings';

export interface EmbeddedPostgresOptions {
  /** The data directory of this server, with the cluster in its subfolder `postgres`. */
  readonly dataDirectory: string;
  /** False disables fsync, for tests: a crash of the machine may lose all data. Default: true. */
  readonly isDurable?: boolean;
  /** The folder of `initdb` and `postgres`. Default: that of the npm package. */
  readonly binaryDirectory?: string | undefined;
  /** Settings of postgresql.conf that override the defaults of this server. */
  readonly settings?: PostgresSettings;
  /** Receives the few messages that an operator needs. */
  readonly log?: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** `postgresql://user:password@127.0.0.1:port/database`. The user owns the cluster. */
  readonly url: string;
  stop(): Promise<void>;
  /** Resolves if PostgreSQL ends without being stopped. */
  readonly lost: Promise<void>;
}

/**
 * Starts a private PostgreSQL from the programs that npm installed, and locks its data directory. If a killed process
 * left a running PostgreSQL there, that is ended; committed data stay.
 * @throws StartError if the data directory is in use, or PostgreSQL does not start
 */
export async function startEmbeddedPostgres({
  dataDirectory,
  isDurable = true,
  binaryDirectory,
  settings,
  log = () => undefined,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const release = await takeDataDirectory(dataDirectory);
  try {
    const { home, account } = await findClusterPlace(dataDirectory, log);
    const binaries = await findBinaries(account, binaryDirectory);
    const password = await openCluster({ home, account }, binaries, isDurable);
    const folder = clusterFolder(home);
    await endLeftoverPostmaster(folder);
    const parameters = settingsParameters(isDurable, settings);
    const postmaster = await startPostmaster({ binaries, account, clusterFolder: folder, settings: parameters, log });
    return {
      url: urlOf(password, postmaster.port),
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

/** Whether the data directory has an embedded database, running or not. */
export async function hasCluster(dataDirectory: string): Promise<boolean> {
  if (!existsSync(dataDirectory)) return false;
  return existsSync((await findClusterPlace(dataDirectory, () => undefined)).home);
}

/**
 * Returns the URL of the embedded database, for tools, while its PostgreSQL runs; undefined if none runs. A PostgreSQL
 * that was killed leaves its pid file, so the process is checked too. The tool must be able to read the data directory,
 * which contains the password.
 */
export async function findRunningCluster(dataDirectory: string): Promise<string | undefined> {
  try {
    const { home } = await findClusterPlace(dataDirectory, () => undefined);
    const folder = clusterFolder(home);
    const file = await findPostmasterPid(folder);
    if (file === undefined || !(await isPostmaster(file.pid, folder))) return undefined;
    return urlOf(await readFile(passwordFile(home), 'utf8'), file.port);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

const urlOf = (password: string, port: number): string =>
  `postgresql://${clusterUser}:${password}@127.0.0.1:${port}/postgres`;
