import { directUrlIn } from '../../src/platform/config/secret-settings';
import { findRunningCluster } from '../../src/platform/database/embedded/embedded-postgres';
import { endAtSignal } from '../end-at-signal';
import { callsOf, readOptions } from '../options';
import { ProgressBar } from '../progress-bar';
import { auditAddenda } from './audit';
import { HeadWriter, readHeads } from './head-list';
import { runTool } from '../run-tool';

const USAGE = `audit-addenda [--heads <file>] [--since <file>]

Follows the chains of all addenda (docs/explanation/evidence.md) and prints their heads, one JSON object a line.
--heads <file>: writes the heads there instead, when every chain is intact.
--since <file>: heads that were kept earlier; a chain that is shorter or another one by now is a break.
Database: DATABASE_URL, or that of the server that runs on DATA_DIR. Exit code 0: all chains are intact; 1: a chain is
broken; 2: the check could not be completed.
${callsOf('audit-addenda')}
`;

async function main(): Promise<number> {
  const { values } = readOptions(USAGE, { options: { heads: { type: 'string' }, since: { type: 'string' } } });
  const { DATA_DIR = './data' } = process.env; // the variable that the server reads too
  const databaseUrl = directUrlIn(process.env) ?? (await findRunningCluster(DATA_DIR));
  if (databaseUrl === undefined) throw new Error(`No server runs on ${DATA_DIR}: start it, or set DATABASE_URL.`);
  let faults = 0;
  const opening = values.heads === undefined ? undefined : HeadWriter.open(values.heads);
  if (opening !== undefined) endAtSignal(async () => (await opening).drop()); // before the file is there
  const writer = await opening;
  try {
    let bar: ProgressBar | undefined;
    const { chains, links } = await auditAddenda({
      databaseUrl,
      ...(values.since === undefined ? {} : { since: readHeads(values.since) }),
      progress: {
        begin: (total) => (bar = new ProgressBar({ label: 'Addenda', total, output: process.stderr })),
        advance: () => bar?.advance(),
      },
      onHead: async (head) => {
        if (writer === undefined) process.stdout.write(`${JSON.stringify(head)}\n`);
        else await writer.write(head);
      },
      onFinding: (finding) => {
        if (++faults <= MOST_FAULTS_TOLD) process.stderr.write(`\nBROKEN ${JSON.stringify(finding)}\n`);
      },
    });
    process.stderr.write(`${chains} chains of ${links} addenda are intact; ${faults} faults.\n`);
    await (faults === 0 ? writer?.keep() : writer?.drop());
    return faults === 0 ? 0 : 1;
  } catch (error) {
    await writer?.drop();
    throw error;
  }
}

/**
 * The number of faults that are printed. Further faults are only counted: a faulty script may have broken every chain.
 */
const MOST_FAULTS_TOLD = 1000;

runTool(main, 2);
