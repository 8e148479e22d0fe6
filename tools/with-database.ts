import { directUrlIn } from '../src/platform/config/secret-settings';
import {
  findRunningCluster,
  hasCluster,
  startEmbeddedPostgres,
} from '../src/platform/database/embedded/embedded-postgres';
import { endAtSignal } from './end-at-signal';

/**
 * Runs `work` on the database of DATABASE_URL, or on the embedded one in DATA_DIR, which is started if no server runs.
 * No database is created: in a mistyped DATA_DIR, or in another working folder, the tool would report success on a new
 * database, while that of the server is unchanged. Ctrl-C and SIGTERM stop a database that this started. It would run
 * on, and a copy of DATA_DIR would be of no use.
 */
export async function withDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const { DATA_DIR = './data' } = process.env; // the variable that the server reads too
  const runningUrl = directUrlIn(process.env) ?? (await findRunningCluster(DATA_DIR));
  if (runningUrl !== undefined) return work(runningUrl);
  if (!(await hasCluster(DATA_DIR)))
    throw new Error(`${DATA_DIR} has no embedded database. Set DATA_DIR to that of the server, or set DATABASE_URL.`);
  const starting = startEmbeddedPostgres({ dataDirectory: DATA_DIR, isDurable: true });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= starting.then((own) => own.stop()));
  endAtSignal(stop);
  const { url } = await starting;
  try {
    await work(url);
  } finally {
    await stop();
  }
}
