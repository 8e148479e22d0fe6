import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { type PostgresSettings } from '../../src/platform/database/embedded/server-settings';
import { type Cleanup } from './cleanup';

/** Settings for data larger than a few thousand resources. */
export const LARGE_BUFFERS: PostgresSettings = { shared_buffers: '1GB' };

export interface Cluster {
  readonly url: string;
  readonly folder: string;
}

/** A separate PostgreSQL, in the folder `keep` or in one that is removed at the end. */
export async function startCluster(cleanup: Cleanup, settings: PostgresSettings = {}, keep?: string): Promise<Cluster> {
  const folder = keep ?? (await cleanup.undoing(makeFolder(), (path) => rm(path, { recursive: true, force: true })));
  await mkdir(folder, { recursive: true });
  const starting = startEmbeddedPostgres({ dataDirectory: folder, settings });
  const { url } = await cleanup.undoing(starting, (started) => started.stop());
  return { url, folder };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  // If the bench runs as root, PostgreSQL runs as another account and needs access; its own data folder stays private.
  await chmod(folder, 0o755);
  return folder;
}
