import { availableParallelism } from 'node:os';
import { type BenchCase } from './bench-case';
import { CASES } from './bench-data';
import { measureCapture } from './capture/capture-bench';
import { type Cleanup } from './cleanup';
import { hasCpuTimes } from './cpu-time';
import { loadCharts } from './load-charts';
import { CONCURRENCY } from './load-client';
import { type ReportLine, reportOf, resourceRates } from './report';
import { ROUNDS, runCase } from './run-case';
import { runDelivery } from './run-delivery';
import { type SuiteReport } from './suite';
import { setUpTestBed } from './test-bed';

/** Measures the server against its baseline, or the server at `BASE_URL` alone (docs/performance.md). */
export async function measureOperations(cleanup: Cleanup): Promise<SuiteReport> {
  const { BASE_URL: baseUrl } = process.env;
  const { lines, captureReport } =
    baseUrl === undefined ? await measureOwn(cleanup) : await measureOther(baseUrl.replace(/\/+$/, ''));
  const errors = lines.reduce((sum, { measured }) => sum + measured.errors, 0);
  const parts = [
    ...[reportOf(lines), resourceRates(lines).join('\n')],
    ...(captureReport === undefined ? [] : [captureReport]),
    `${CONCURRENCY} requests at a time; medians of ${ROUNDS} rounds, percentiles of all their requests.`,
    ...(errors === 0 ? [] : [`${errors} requests were not answered as expected.`]),
  ];
  return { text: parts.join('\n\n'), isKept: errors === 0 };
}

interface Report {
  readonly lines: readonly ReportLine[];
  /** Cost of topics for writes; absent for an external server, whose database is not accessible. */
  readonly captureReport?: string;
}

async function measureOwn(cleanup: Cleanup): Promise<Report> {
  const bed = await setUpTestBed(cleanup);
  const { server, baseline, postgresVersion } = bed;
  const machine = `Node ${process.version}, PostgreSQL ${postgresVersion}, ${availableParallelism()} CPUs\n`;
  process.stdout.write(machine);
  if (!hasCpuTimes()) process.stdout.write('Without /proc there are no CPU times and no ratio.\n');
  const lines: ReportLine[] = [];
  for (const bench of CASES) lines.push(...linesOf(bench, await runCase(bench, [server, baseline])));
  lines.push(...linesOf({ name: 'deliver' }, await runDelivery(bed)));
  return { lines, captureReport: await measureCapture(server, cleanup) };
}

function linesOf(
  { name: operation, ...bench }: Pick<BenchCase, 'name' | 'resources'>,
  [server, baseline]: Awaited<ReturnType<typeof runCase>>,
): ReportLine[] {
  if (server === undefined || baseline === undefined) return [];
  const resources = bench.resources === undefined ? {} : { resources: bench.resources };
  return [
    { operation, target: 'server', measured: server, baseline, ...resources },
    { operation, target: 'baseline', measured: baseline, ...resources },
  ];
}

/**
 * Measures the server at `BASE_URL`. The stored data stay on it: the server assigned the ids of created resources, and
 * the bench does not have them, so it cannot delete these resources.
 */
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
