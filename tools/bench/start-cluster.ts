import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { type PostgresSettings } from '../../src/platform/database/embedded/server-settings';
import { type Cleanup } from './cleanup';

/** A PostgreSQL of its own, in the folder or in one that is removed at the end; the URL of its first database. */
export async function startCluster(
  keep: string | undefined,
  cleanup: Cleanup,
  further: PostgresSettings = {},
): Promise<string> {
  const folder = keep ?? (await cleanup.undoing(makeFolder(), (path) => rm(path, { recursive: true, force: true })));
  await mkdir(folder, { recursive: true });
  const settings = { shared_buffers: '1GB', ...further };
  const starting = startEmbeddedPostgres({ dataDirectory: folder, settings });
  return (await cleanup.undoing(starting, (started) => started.stop())).url;
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-scale-'));
  // PostgreSQL runs as another account where the bench runs as root; what it keeps there is closed to everybody else.
  await chmod(folder, 0o755);
  return folder;
}
