import { createHash } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Where root keeps what the account of PostgreSQL cannot reach in a checkout under /root. Not the temporary folder:
 * anybody could have put programs there before us, and old files in it are removed by the system.
 */
const rootState = '/var/lib/svc-health-server';

/** Makes the folder that the two below are in, and lets every account pass, whatever the umask is. */
export async function makeRootState(): Promise<void> {
  await mkdir(rootState, { recursive: true });
  await chmod(rootState, 0o755);
}

/** The folder for a copy of the binaries of one release. */
export const binariesCopyFolder = (release: string): string => join(rootState, `postgresql-${release}`);

/**
 * Returns the folder that stands in for an unreachable data directory. Its name comes from the whole absolute path, so
 * that two clones never share a cluster, and from `identity`, so that a removed data directory begins anew.
 */
export const fallbackFolder = (dataDirectory: string, identity: string): string =>
  join(rootState, createHash('sha256').update(`${dataDirectory}\0${identity}`).digest('hex'));
