import { createHash } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The folder for files that the account of PostgreSQL could not open elsewhere, such as in a checkout under /root. It
 * is not in the temporary folder: anybody could have put programs there before, and the system removes old files from
 * it.
 */
const rootState = '/var/lib/svc-health-server';

/** Lets every account enter the folder, whatever the umask is. */
export async function makeRootState(): Promise<void> {
  await mkdir(rootState, { recursive: true });
  await chmod(rootState, 0o755);
}

export const binariesCopyFolder = (release: string): string => join(rootState, `postgresql-${release}`);

/**
 * Returns the folder of the cluster if PostgreSQL's account cannot open the data directory. Its name is derived from
 * the absolute path of the data directory, so that two clones never share a cluster. It is also derived from
 * `identity`, so that a new data directory at the same path starts empty.
 */
export const fallbackFolder = (dataDirectory: string, identity: string): string =>
  join(rootState, createHash('sha256').update(`${dataDirectory}\0${identity}`).digest('hex'));
