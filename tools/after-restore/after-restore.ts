import { callsOf, readOptions } from '../options';
import { runTool } from '../run-tool';
import { withDatabase } from '../with-database';
import { declareRestore, releaseDelivery } from './declare-restore';

const USAGE = `after-restore [--release]

Declares that the database was restored from a backup. Run it before the first server starts: notifications get a new
delivery generation, and nothing is delivered before a release. It also migrates the database to the release of the
tool, so use the tool of the release that will run.
--release: delivery goes on.
Database: DATABASE_URL, or the embedded one in DATA_DIR.
${callsOf('after-restore')}
`;

const RELEASED = 'Delivery goes on.';
const HELD = `A new delivery generation was made. Servers deliver nothing until this tool runs with --release.`;

const write = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function main(): Promise<void> {
  const { values } = readOptions(USAGE, { options: { release: { type: 'boolean', default: false } } });
  await withDatabase(async (url) => {
    await (values.release ? releaseDelivery(url) : declareRestore(url, write));
    write(values.release ? RELEASED : HELD);
  });
}

runTool(main);
