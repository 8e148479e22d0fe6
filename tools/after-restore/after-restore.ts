import { callsOf, readOptions } from '../options';
import { runTool } from '../run-tool';
import { withDatabase } from '../with-database';
import { declareRestore, releaseDelivery } from './declare-restore';

const USAGE = `after-restore [--release]

Declares that the database was restored from a backup. Run it before the first server starts: notifications get a new
delivery generation, and nothing is delivered before a release.
--release: delivery goes on.
Database: DATABASE_URL, or the embedded one in DATA_DIR.
${callsOf('after-restore')}
`;

const RELEASED = 'Delivery goes on.';
const HELD = `A new delivery generation was made. Servers deliver nothing until this tool runs with --release.`;

async function main(): Promise<void> {
  const { values } = readOptions(USAGE, { options: { release: { type: 'boolean', default: false } } });
  await withDatabase(async (url) => {
    await (values.release ? releaseDelivery(url) : declareRestore(url));
    process.stdout.write(`${values.release ? RELEASED : HELD}\n`);
  });
}

runTool(main);
