import { readFile } from 'node:fs/promises';
import { clusterFolder, clusterUser, findClusterPlace, passwordFile } from './cluster';
import { postmasterPidPath } from './postmaster-pid-file';
import { isSystemError } from '../../errors/system-error';

/**
 * The URL of the embedded database of a server that runs on `dataDirectory`, for tools; undefined if none runs. The
 * password requires read access to the data directory.
 */
export async function findRunningCluster(dataDirectory: string): Promise<string | undefined> {
  try {
    const { home } = await findClusterPlace(dataDirectory, () => undefined);
    const [, , , port = ''] = (await readFile(postmasterPidPath(clusterFolder(home)), 'utf8')).split('\n');
    const password = await readFile(passwordFile(home), 'utf8');
    return `postgresql://${clusterUser}:${password}@127.0.0.1:${port.trim()}/postgres`;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
