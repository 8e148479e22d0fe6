import { readFile } from 'node:fs/promises';
import { clusterFolder, clusterUser, findClusterPlace, passwordFile } from './cluster';
import { postmasterPidPath } from './postmaster-pid-file';
import { isSystemError } from '../../errors/system-error';

/**
 * Returns the URL of the embedded database, for tools, while a server runs on `dataDirectory`; undefined if none runs.
 * The tool must be able to read the data directory, which contains the password.
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
