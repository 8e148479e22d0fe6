import { constants } from 'node:os';
import { callsOf, readOptions } from '../options';
import { findRootSecret } from '../demo/demo-secrets';
import { textTable } from '../demo/text-table';
import { type LoadReport, load } from './loading';
import { LoadState } from './load-state';
import { runTool } from '../run-tool';

const USAGE = `load <files or folders> [--restart] [--lanes=4]

Sends FHIR Bundles (*.json: transaction, batch, collection; single resources too) and NDJSON (*.ndjson, one resource per
line) to a running server. Loaded entries are remembered: after a break the same call goes on; --restart forgets it.
Server: BASE_URL or PORT. Credentials: TOKEN, BASIC=id:secret, or the secret of the Client root, in
SVC_ROOT_CLIENT_SECRET or in credentials.json of DATA_DIR.
${callsOf('load')}
`;

async function main(): Promise<number> {
  const { values, positionals } = readOptions(USAGE, {
    allowPositionals: true,
    options: { restart: { type: 'boolean', default: false }, lanes: { type: 'string', default: '4' } },
  });
  const lanes = Number(values.lanes);
  if (positionals.length === 0 || !Number.isInteger(lanes) || lanes < 1 || lanes > 64) {
    process.stderr.write(USAGE);
    return 2;
  }
  const { BASE_URL, PORT = '3000' } = process.env; // the variables that the server reads too
  const root = (BASE_URL ?? `http://localhost:${PORT}`).replace(/\/+$/, '');
  const baseUrl = root.endsWith('/fhir') ? root : `${root}/fhir`;
  const authorization = authorizationOf(process.env);
  if (authorization === undefined) {
    process.stderr.write(`No credentials: set TOKEN, or BASIC to id:secret.\n`);
    return 1;
  }
  const state = LoadState.open(LoadState.pathIn(process.env), baseUrl, { restart: values.restart });
  const interruption = new AbortController();
  let exitCode: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Entries of a request in flight may be stored, and a POST that is sent again would be stored twice.
    process.once(signal, () => {
      process.stderr.write('Waiting for the requests in flight; another signal ends the load at once.\n');
      exitCode = 128 + constants.signals[signal];
      interruption.abort();
    });
  }
  const { signal } = interruption;
  const report = await load(positionals, { target: { baseUrl, authorization }, state, lanes, signal });
  tell(report);
  if (exitCode !== undefined) return exitCode;
  return report.failures.length + report.unreadable.length === 0 ? 0 : 1;
}

function authorizationOf(environment: NodeJS.ProcessEnv): string | undefined {
  const { TOKEN: token, BASIC: basic } = environment;
  if (token !== undefined) return `Bearer ${token}`;
  const secret = findRootSecret(environment)?.value;
  const credentials = basic ?? (secret === undefined ? undefined : `root:${secret}`);
  return credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function tell({ storedByType, skipped, failures, unreadable }: LoadReport): void {
  const rows = [...storedByType].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, count]) => [type, String(count)]);
  const total = [...storedByType.values()].reduce((sum, count) => sum + count, 0);
  process.stdout.write(`\n${textTable(['Type', 'Stored'], [...rows, ['', String(total)]])}\n`);
  if (skipped > 0) process.stdout.write(`${skipped} were stored before.\n`);
  for (const { file, reason } of unreadable) process.stderr.write(`${file}: ${reason}\n`);
  for (const { file, entry, status, reason } of failures) {
    process.stderr.write(`${file}, ${entry.place} (${entry.resourceType}): ${status} ${reason}\n`);
  }
  if (failures.length > 0) process.stderr.write(`${failures.length} were not stored.\n`);
}

runTool(main);
