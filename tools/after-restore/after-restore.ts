import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { findRunningCluster } from '../../src/platform/database/embedded/running-cluster';
import { declareRestore, releaseDelivery } from './declare-restore';

const USAGE = `npm run after-restore [-- --release]

Declares that the database was restored from a backup. Run it before the first server starts: notifications get a new
delivery generation, and nothing is delivered before a release.
--release: delivery goes on.
Database: DATABASE_URL, or the embedded one in DATA_DIR. In the image: node dist/tools/after-restore/after-restore.js
`;

const RELEASED = 'Delivery goes on.';
const HELD = `A new delivery generation was made. Servers deliver nothing until this is run: npm run after-restore -- --release`;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { release: { type: 'boolean', default: false } } });
  const { DATABASE_URL, DATA_DIR = './data' } = process.env; // as the server reads them
  const runningUrl = DATABASE_URL ?? (await findRunningCluster(DATA_DIR));
  const own =
    runningUrl === undefined ? await startEmbeddedPostgres({ dataDirectory: DATA_DIR, isDurable: true }) : undefined;
  try {
    const url = runningUrl ?? own?.url ?? '';
    await (values.release ? releaseDelivery(url) : declareRestore(url));
    process.stdout.write(`${values.release ? RELEASED : HELD}\n`);
  } finally {
    await own?.stop();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 1;
});
