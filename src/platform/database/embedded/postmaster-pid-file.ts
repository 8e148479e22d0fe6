import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '../../errors/system-error';

/** The content of `postmaster.pid`; `pid` is NaN if the file is empty or invalid. */
export interface PostmasterPidFile {
  readonly pid: number;
  readonly isReady: boolean;
}

/** The path of the file. PostgreSQL itself checks whether the writer of an existing one is still running. */
export const postmasterPidPath = (clusterFolder: string): string => join(clusterFolder, 'postmaster.pid');

/** Reads the file; undefined if it does not exist. Source: PostgreSQL, src/include/utils/pidfile.h. */
export async function findPostmasterPid(clusterFolder: string): Promise<PostmasterPidFile | undefined> {
  let text: string;
  try {
    text = await readFile(postmasterPidPath(clusterFolder), 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
  const lines = text.split('\n');
  return { pid: Number.parseInt(lines[0] ?? '', 10), isReady: lines[7]?.trim() === 'ready' };
}
