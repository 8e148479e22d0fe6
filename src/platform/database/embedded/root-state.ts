import { createHash } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Where root keeps files that PostgreSQL's account cannot open in a checkout under /root. Not the temporary folder:
 * anybody could have put programs there before, and the system removes old files from it.
 */
const rootState = '/var/lib/svc-health-server';

/** Creates the parent of the two folders below, and lets every account enter it, whatever the umask is. */
export async function makeRootState(): Promise<void> {
  await mkdir(rootState, { recursive: true });
  await chmod(rootState, 0o755);
}

/** The folder for a copy of the binaries of one release. */
export const binariesCopyFolder = (release: string): string => join(rootState, `postgresql-${release}`);

/**
 * Returns the folder that replaces an inaccessible data directory. Its name is derived from the whole absolute path, so
 * that two clones never share a cluster, and from `identity`, so that a new data directory at the same path starts
 * empty.
 */
export const fallbackFolder = (dataDirectory: string, identity: string): string =>
  join(rootState, createHash('sha256').update(`${dataDirectory}\0${identity}`).digest('hex'));
