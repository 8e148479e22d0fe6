import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { textTable } from '../../demo/text-table';
import { HttpClient } from '../../http-client';
import { jsonBody } from '../../json-body';
import { type Target } from '../bench-case';
import { type Cleanup } from '../cleanup';
import { connect } from '../own-database';
import { succeed } from '../prepare-server';
import { chartsOf } from '../scale/fill-charts';
import { fillDatabase } from '../scale/scale-database';
import { quantile } from '../statistics';
import { type SuiteOptions, type SuiteReport } from '../suite';
import { type ServerBed, setUpServer } from '../test-bed';
import { LoadData, VISIBLE_CRITERIA } from './load-data';
import { countIndexed, makeStale, untilBuilt } from './stale-rows';
import { READERS, send, type Work, workUntil, WRITERS } from './work';

const RESOURCES = 92_000;
const MOST_SECONDS = 30;
/** The size of the data divided by this number is the duration of the baseline measurement in seconds. */
const RESOURCES_PER_SECOND = 400;
/** Maximum ratio of the p99 during the job to the p99 alone. */
const MOST_SLOWDOWN = 2;
const LIMITED = { user: 'bench-limited', password: 'the secret of the limited caller' };

/**
 * Measures latencies of writers and readers while the search index rows of all resources are rebuilt, and checks each
 * response against the written resources. Some rows are stale at first, so that a response from unfinished rows is
 * wrong.
 */
export async function measureReindex({ sizes }: SuiteOptions, cleanup: Cleanup): Promise<SuiteReport> {
  const size = sizes?.[0] ?? RESOURCES;
  const bed = await setUpServer(cleanup, { fill: (url) => fillDatabase(url, size, chartsOf(size)) });
  const { server } = bed;
  const callers = { open: server, limited: await limitedCaller(bed) };
  const client = await cleanup.undoing(connect(server.databaseUrl), (connected) => connected.end());
  // If the server did not fill the database, its first start begins to build all rows.
  await untilBuilt(client);
  const data = new LoadData(size);
  const seconds = Math.min(MOST_SECONDS, size / RESOURCES_PER_SECOND);
  const warm = await workUntil(callers, data, delay(seconds * 500));
  const alone = await workUntil(callers, data, delay(seconds * 1_000));
  const start = await makeStale(client, {
    swapped: data.changed.map(({ id }) => id),
    unlinked: data.counted.map(({ id }) => id).filter((_id, at) => at % 2 === 0),
    known: () => untilWarned(server),
  });
  await start();
  const beside = await workUntil(callers, data, reindex(server.databaseUrl, cleanup));
  const after = await workUntil(callers, data, delay(seconds * 500));

  const phases = { 'to warm up': warm, alone, 'while rows are built': beside, afterwards: after };
  const works = Object.values(phases);
  const rows = Object.entries(phases).map(([name, work]) => rowOf(name, work));
  const indexed = await countIndexed(client);
  const slowdown = { writes: slowdownOf(alone.writes, beside.writes), reads: slowdownOf(alone.reads, beside.reads) };
  // Without an index build, any warning or refusal is a fault.
  const excuses = [warm, alone, after].reduce((sum, { warned, refused }) => sum + warned + refused, 0);
  const failed = works.reduce((sum, { failedWrites, refusedWrites }) => sum + failedWrites + refusedWrites, 0);
  const wrong = works.reduce((sum, work) => sum + work.wrong, 0);
  const text = [
    textTable(HEAD, rows),
    `${WRITERS} writers and ${READERS} readers, ${size} resources and the charts of the bench.`,
    `${indexed} resources indexed in ${beside.seconds.toFixed(0)} s: ${(indexed / beside.seconds).toFixed(0)} a second.`,
    `p99 beside it / alone: writes ${slowdown.writes.toFixed(1)}, reads ${slowdown.reads.toFixed(1)} (goal: at most ${MOST_SLOWDOWN}).`,
    `Wrong answers: ${wrong}. Warned or refused while nothing was built: ${excuses}. Failed writes: ${failed}.`,
    ...works.flatMap(({ faults }) => faults).slice(0, 20),
  ];
  const isFast = slowdown.writes <= MOST_SLOWDOWN && slowdown.reads <= MOST_SLOWDOWN;
  return { text: text.join('\n\n'), isKept: wrong + excuses + failed === 0 && isFast };
}

/** Stores a Client whose policy grants only the Observations that match its criteria. */
async function limitedCaller({ server, secrets }: ServerBed): Promise<Target> {
  const client = new HttpClient(new URL(server.baseUrl).origin);
  const authorization = { user: 'root', password: secrets.rootSecret };
  const put = (path: string, body: object): Promise<unknown> =>
    succeed(client, { method: 'PUT', path, authorization, body: jsonBody(body) });
  await put(`/Client/${LIMITED.user}`, { secret: LIMITED.password, grant_types: ['basic'] });
  const link = [{ resourceType: 'Client', id: LIMITED.user }];
  await put('/AccessPolicy/bench-limited', { engine: 'allow', link, criteria: VISIBLE_CRITERIA });
  const basic = Buffer.from(`${LIMITED.user}:${LIMITED.password}`).toString('base64');
  return { name: 'limited', baseUrl: server.baseUrl, authorization: `Basic ${basic}` };
}

/** @throws Error when searches continue without a warning */
async function untilWarned(server: Target): Promise<void> {
  for (let tries = 1; tries <= 100; tries++) {
    const { text } = await send(undefined, server, { method: 'GET', path: '/Observation?status=amended&_count=1' });
    if (text.includes('"OperationOutcome"')) return;
    await delay(100);
  }
  throw new Error('Searches do not warn while the index is built.');
}

/** Runs the tool `reindex`, which ends when all rows are built. */
async function reindex(databaseUrl: string, cleanup: Cleanup): Promise<void> {
  const child = spawn(process.execPath, [resolve('dist/tools/reindex/reindex.js')], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    stdio: 'inherit',
  });
  await cleanup.undoing(child, (started) => started.kill());
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The rows were not built.');
}

const slowdownOf = (alone: readonly number[], beside: readonly number[]): number =>
  quantile(beside, 0.99) / quantile(alone, 0.99);

const TIMES = ['p50 ms', 'p99 ms'];
const HEAD = ['', ' seconds', 'writes', ...TIMES, ' reads', ...TIMES, 'warned', '503', 'wrong'];

function rowOf(name: string, work: Work): string[] {
  const numbers = [
    work.seconds.toFixed(0),
    ...[work.writes, work.reads].flatMap((latencies) => [
      String(latencies.length),
      quantile(latencies, 0.5).toFixed(1),
      quantile(latencies, 0.99).toFixed(1),
    ]),
    ...[work.warned, work.refused + work.refusedWrites, work.wrong].map(String),
  ];
  return [name, ...numbers.map((number) => number.padStart(6))];
}
