import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { type PostgresSettings } from '../../src/platform/database/embedded/server-settings';
import { type Cleanup } from './cleanup';

/** What data larger than a few thousand resources need. */
export const LARGE_BUFFERS: PostgresSettings = { shared_buffers: '1GB' };

export interface Cluster {
  /** Of its first database. */
  readonly url: string;
  readonly folder: string;
}

/** A PostgreSQL of its own, in the folder `keep` or in one that is removed at the end. */
export async function startCluster(cleanup: Cleanup, settings: PostgresSettings = {}, keep?: string): Promise<Cluster> {
  const folder = keep ?? (await cleanup.undoing(makeFolder(), (path) => rm(path, { recursive: true, force: true })));
  await mkdir(folder, { recursive: true });
  const starting = startEmbeddedPostgres({ dataDirectory: folder, settings });
  const { url } = await cleanup.undoing(starting, (started) => started.stop());
  return { url, folder };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  // PostgreSQL runs as another account where the bench runs as root; what it keeps there is closed to everybody else.
  await chmod(folder, 0o755);
  return folder;
}
