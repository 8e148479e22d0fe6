import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../../../src/boot';
import { readEnvironmentOfOne } from '../../../src/platform/config/environment';
import { textTable } from '../../demo/text-table';
import { HttpClient } from '../../http-client';
import { type Cleanup } from '../cleanup';
import { newServer } from '../new-server';
import { prepareServer, succeed } from '../prepare-server';
import { startCluster } from '../start-cluster';
import { chosen } from '../suite';
import { WebhookReceiver } from '../webhook-receiver';
import { coveredRequests, type CoveredRequest, STORED } from './covered-requests';
import { type CalledFunction, FunctionCoverage } from './function-coverage';
import { StatementLog } from './statement-log';

const WARM_UPS = 20;
/**
 * The number of measured requests of a kind. Background work runs during some of them, so code counts only if it runs
 * during all of them.
 */
const MEASURED = 5;
/** A time in which an event is surely delivered and settled. */
const SETTLED_MILLISECONDS = 300;

const FOLDER = resolve('dist/src');

/**
 * Measures the code that one warm request of each kind runs: files, functions and SQL (docs/performance.md). The server
 * runs in this process, where V8 counts. With `--only`, files with their functions, and statements, are listed.
 */
export async function measureCoverage(only: string | undefined, cleanup: Cleanup): Promise<string> {
  const log = new StatementLog();
  const cluster = await startCluster(cleanup);
  const { secrets, variables } = newServer(cluster.url);
  const environment = readEnvironmentOfOne({ ...variables, DATA_DIR: cluster.folder });
  const server = await cleanup.undoing(
    startServer(environment, () => undefined),
    (started) => started.stop(),
  );
  const receiver = await cleanup.undoing(WebhookReceiver.start(), (started) => started.stop());
  const client = new HttpClient(server.url);
  const bearer = await prepareServer(server.url, secrets, receiver.url);
  for (const call of STORED) await succeed(client, { ...call, authorization: { bearer } });

  const send = async ({ callOf, events = 0 }: CoveredRequest, n: number): Promise<void> => {
    const arrived = receiver.reach(receiver.seen + events, 10);
    const call = callOf(n);
    await succeed(client, call.path === '/auth/token' ? call : { ...call, authorization: { bearer } });
    await arrived;
    if (events > 0) await delay(SETTLED_MILLISECONDS);
  };

  const coverage = new FunctionCoverage(FOLDER);
  await coverage.start();
  const rows: string[][] = [];
  const lists: string[] = [];
  for (const request of chosen(coveredRequests(secrets), only)) {
    for (let n = 0; n < WARM_UPS; n++) await send(request, n);
    const runs: Run[] = [];
    for (let n = WARM_UPS; n < WARM_UPS + MEASURED; n++) {
      log.take();
      const functions = await coverage.of(() => send(request, n));
      runs.push({ functions, statements: log.take() });
    }
    const way = wayOf(runs);
    rows.push(rowOf(request, way));
    if (only !== undefined) lists.push([`${request.name}:`, ...way.files.map((file) => lineOf(file, way)), ...way.statements].join('\n  '));
  }
  coverage.stop();
  return [textTable(HEADINGS, rows), ...lists].join('\n\n');
}

const HEADINGS = ['request', 'files', 'functions', 'folders', 'packages', 'statements'];

interface Run {
  readonly functions: ReadonlyMap<string, CalledFunction>;
  readonly statements: readonly string[];
}

/**
 * The functions that occur in all measured runs of a request, their files, and the statements of the run with the
 * fewest statements.
 */
interface Way {
  readonly functions: readonly CalledFunction[];
  readonly files: readonly string[];
  readonly statements: readonly string[];
}

function wayOf(runs: readonly Run[]): Way {
  const [first, ...others] = runs;
  const functions = [...(first?.functions ?? [])]
    .filter(([at]) => others.every((run) => run.functions.has(at)))
    .map(([, called]) => called);
  const [statements = []] = runs.map((run) => run.statements).sort((one, other) => one.length - other.length);
  return { functions, files: distinct(functions.map(({ file }) => file)), statements };
}

function rowOf({ name }: CoveredRequest, { functions, files, statements }: Way): string[] {
  const folders = distinct(files.map((file) => dirname(file)));
  const packages = distinct(folders.map((folder) => folder.split('/')[0] ?? ''));
  return [name, ...[files, functions, folders, packages, statements].map(({ length }) => String(length))];
}

/** A file with the functions that ran. */
const lineOf = (file: string, { functions }: Way): string =>
  `${file}: ${functions.flatMap((called) => (called.file === file && called.name !== '' ? [called.name] : [])).join(', ')}`;

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();
