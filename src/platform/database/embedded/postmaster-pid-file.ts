import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '../../errors/system-error';

/** The content of `postmaster.pid`; `pid` is NaN when the file is empty or garbage. */
export interface PostmasterPidFile {
  readonly pid: number;
  readonly isReady: boolean;
}

/** Where PostgreSQL finds such a file, it checks whether its writer still lives. */
export const postmasterPidPath = (clusterFolder: string): string => join(clusterFolder, 'postmaster.pid');

/** Reads the file; undefined when there is none. Source: PostgreSQL, src/include/utils/pidfile.h. */
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
