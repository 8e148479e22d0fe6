import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '../../errors/system-error';

/** The content of `postmaster.pid`. `pid` is NaN if the file is empty or invalid. */
export interface PostmasterPidFile {
  readonly pid: number;
  readonly port: number;
  readonly isReady: boolean;
}

/**
 * Returns the path of the file. If it exists, PostgreSQL itself checks whether the process that wrote it is still
 * running.
 */
export const postmasterPidPath = (clusterFolder: string): string => join(clusterFolder, 'postmaster.pid');

/** Reads the file; undefined if it does not exist. Format: src/include/utils/pidfile.h of PostgreSQL. */
export async function findPostmasterPid(clusterFolder: string): Promise<PostmasterPidFile | undefined> {
  let text: string;
  try {
    text = await readFile(postmasterPidPath(clusterFolder), 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
  const lines = text.split('\n');
  const [pid = '', , , port = ''] = lines;
  return { pid: Number.parseInt(pid, 10), port: Number.parseInt(port, 10), isReady: lines[7]?.trim() === 'ready' };
}
