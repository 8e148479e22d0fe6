import { availableParallelism, loadavg } from 'node:os';
import { readOptions } from '../options';
import { CASES } from './bench-data';
import { measureCapture } from './capture/capture-bench';
import { Cleanup } from './cleanup';
import { hasCpuTimes } from './cpu-time';
import { measureDelivery } from './delivery/delivery-bench';
import { measureEverything } from './everything/everything-bench';
import { loadCharts } from './load-charts';
import { CONCURRENCY } from './load-client';
import { type BenchCase } from './bench-case';
import { measureFlood } from './login-flood';
import { type ReportLine, reportOf, resourceRates } from './report';
import { ROUNDS, runCase } from './run-case';
import { runDelivery } from './run-delivery';
import { measureScale } from './scale/scale-bench';
import { setUpServer, setUpTestBed } from './test-bed';
import { measureTurns } from './turns/turns-bench';

const tell = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const tellLoad = (): void => {
  const loads = loadavg().map((load) => load.toFixed(1));
  tell(`Load average of the machine at the end: ${loads.join(' ')}`);
};

const USAGE = 'npm run bench [-- options]: measures the server, or the one at BASE_URL (docs/performance.md).';

/** For the searches of docs/performance.md, "Search at scale". */
const text = { type: 'string' } as const;
const OPTIONS = {
  resources: text,
  keep: text,
  cluster: text,
  only: text,
  flood: text,
  everything: text,
  capture: { type: 'boolean' },
  delivery: { type: 'boolean' },
  turns: { type: 'boolean' },
} as const;

/** Measures the server against its floor, or the server at `BASE_URL` alone (docs/performance.md). */
async function main(cleanup: Cleanup): Promise<number> {
  const { resources, flood, everything, capture, delivery, turns, ...scale } = readOptions(USAGE, {
    options: OPTIONS,
  }).values;
  if (flood !== undefined) {
    tell(`\n${await measureFlood(Number(flood), cleanup)}\n`);
    return 0;
  }
  if (turns === true) {
    tell(`\n${await measureTurns(cleanup)}\n`);
    tellLoad();
    return 0;
  }
  if (delivery === true) {
    tell(`\n${await measureDelivery(scale.only, cleanup)}\n`);
    tellLoad();
    return 0;
  }
  if (everything !== undefined) {
    tell(`\n${await measureEverything(everything.split(',').map(Number), cleanup)}\n`);
    tellLoad();
    return 0;
  }
  if (capture === true) {
    const { server } = await setUpServer(cleanup);
    tell(`\n${await measureCapture(server, cleanup)}\n`);
    tellLoad();
    return 0;
  }
  if (resources !== undefined) {
    tell(await measureScale({ sizes: resources.split(',').map(Number), ...scale }, cleanup));
    return 0;
  }
  const { BASE_URL: baseUrl } = process.env;
  const { lines, captureReport } =
    baseUrl === undefined ? await measureOwn(cleanup) : await measureOther(baseUrl.replace(/\/+$/, ''));
  tell(`\n${reportOf(lines)}\n`);
  for (const rate of resourceRates(lines)) tell(rate);
  if (captureReport !== undefined) tell(`\n${captureReport}\n`);
  tell(`${CONCURRENCY} requests at a time; medians of ${ROUNDS} rounds, percentiles of all their requests.`);
  tellLoad();
  const errors = lines.reduce((sum, { measured }) => sum + measured.errors, 0);
  if (errors > 0) tell(`${errors} requests were not answered as expected.`);
  return errors === 0 ? 0 : 1;
}

interface Report {
  readonly lines: readonly ReportLine[];
  /** What topics cost writes; absent of a server whose database is not ours. */
  readonly captureReport?: string;
}

async function measureOwn(cleanup: Cleanup): Promise<Report> {
  const bed = await setUpTestBed(cleanup);
  const { server, floor, postgresVersion } = bed;
  tell(`Node ${process.version}, PostgreSQL ${postgresVersion}, ${availableParallelism()} CPUs`);
  if (!hasCpuTimes()) tell('This system has no /proc: CPU times and the ratio to the floor are not measured.');
  const lines: ReportLine[] = [];
  for (const bench of CASES) lines.push(...linesOf(bench, await runCase(bench, [server, floor])));
  lines.push(...linesOf({ name: 'deliver' }, await runDelivery(bed)));
  return { lines, captureReport: await measureCapture(server, cleanup) };
}

function linesOf(
  { name: operation, ...bench }: Pick<BenchCase, 'name' | 'resources'>,
  [server, floor]: Awaited<ReturnType<typeof runCase>>,
): ReportLine[] {
  if (server === undefined || floor === undefined) return [];
  const resources = bench.resources === undefined ? {} : { resources: bench.resources };
  return [
    { operation, target: 'server', measured: server, floor, ...resources },
    { operation, target: 'floor', measured: floor, ...resources },
  ];
}

/** The data stay there: created resources have ids that only the server knows. */
async function measureOther(baseUrl: string): Promise<Report> {
  const target = { name: 'server', baseUrl, authorization: authorizationOf(process.env) };
  await loadCharts(target);
  const lines: ReportLine[] = [];
  for (const bench of CASES) {
    const [measured] = await runCase(bench, [target]);
    if (measured !== undefined) lines.push({ operation: bench.name, target: 'server', measured });
  }
  return { lines };
}

function authorizationOf({ TOKEN: token, BASIC: basic }: NodeJS.ProcessEnv): string {
  if (token !== undefined) return `Bearer ${token}`;
  if (basic !== undefined) return `Basic ${Buffer.from(basic).toString('base64')}`;
  throw new Error('With BASE_URL set TOKEN to an access token, or BASIC to id:secret.');
}

const cleanup = new Cleanup();
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isInterrupted = true;
    void cleanup.run().then(() => process.exit(130));
  });
}
main(cleanup)
  .catch((error: unknown) => {
    // What breaks because everything is being stopped is no news.
    if (!isInterrupted) process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  })
  .then(async (code) => {
    await cleanup.run();
    process.exitCode = code;
  })
  .catch(() => undefined);
