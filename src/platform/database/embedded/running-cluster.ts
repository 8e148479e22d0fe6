import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { clusterFolder, clusterUser, findClusterPlace, passwordFile } from './cluster';
import { isPostmaster } from './leftover-postmaster';
import { findPostmasterPid } from './postmaster-pid-file';
import { isSystemError } from '../../errors/system-error';

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
    const password = await readFile(passwordFile(home), 'utf8');
    return `postgresql://${clusterUser}:${password}@127.0.0.1:${file.port}/postgres`;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
