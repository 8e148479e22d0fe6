import { directUrlIn } from '../src/platform/config/secret-settings';
import { startEmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres';
import { findRunningCluster } from '../src/platform/database/embedded/running-cluster';

/**
 * Runs `work` on the database of DATABASE_URL, or on the embedded one in DATA_DIR, which is started if no server runs.
 */
export async function withDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const { DATA_DIR = './data' } = process.env; // the variable that the server reads too
  const runningUrl = directUrlIn(process.env) ?? (await findRunningCluster(DATA_DIR));
  const own =
    runningUrl === undefined ? await startEmbeddedPostgres({ dataDirectory: DATA_DIR, isDurable: true }) : undefined;
  try {
    await work(runningUrl ?? own?.url ?? '');
  } finally {
    await own?.stop();
  }
}
