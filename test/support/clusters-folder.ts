import { statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';

/** The file system in memory that Linux has. In a container it often has 64 MB only. */
const MEMORY = '/dev/shm';
/** The free memory that is required: far more than one run needs, so that several runs fit. */
const NEEDED_BYTES = 6 * 2 ** 30;

/**
 * Returns the folder for the PostgreSQL of the specs: in memory if the machine has enough, else `usual`. Each of some
 * 400 copied databases has 500 files, which a file system on a disk creates and removes slowly.
 */
export async function clustersFolder(usual: string): Promise<string> {
  if (process.platform !== 'linux') return usual;
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  if (Math.min(bavail * bsize, process.availableMemory()) < NEEDED_BYTES) return usual;
  return join(MEMORY, `svc-health-server-specs-${userInfo().uid}`);
}
