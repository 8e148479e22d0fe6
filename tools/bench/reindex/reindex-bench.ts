import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { textTable } from '../../demo/text-table';
import { type BenchCase } from '../bench-case';
import { READ, SEARCH, UPDATE } from '../bench-data';
import { type Cleanup } from '../cleanup';
import { LoadClient } from '../load-client';
import { chartsOf } from '../scale/fill-charts';
import { fillDatabase } from '../scale/scale-database';
import { quantile } from '../statistics';
import { type SuiteOptions, type SuiteReport } from '../suite';
import { type OwnContender, setUpServer } from '../test-bed';

const RESOURCES = 92_000;
/** One request after the other. */
const WRITERS = 4;
const READERS = 4;
const ALONE_SECONDS = 30;

interface Work {
  readonly seconds: number;
  /** In milliseconds. */
  readonly writes: readonly number[];
  readonly reads: readonly number[];
  readonly errors: number;
}

/** Measures what writers and readers feel while the search index rows of all resources are built anew. */
export async function measureReindex({ sizes }: SuiteOptions, cleanup: Cleanup): Promise<SuiteReport> {
  const size = sizes?.[0] ?? RESOURCES;
  const { server } = await setUpServer(cleanup, { fill: (url) => fillDatabase(url, size, chartsOf(size)) });
  await workUntil(server, delay(ALONE_SECONDS * 500));
  const alone = await workUntil(server, delay(ALONE_SECONDS * 1_000));
  const beside = await workUntil(server, reindex(server.databaseUrl, cleanup));
  const rows = [rowOf('alone', alone), rowOf('while rows are built', beside)];
  const errors = alone.errors + beside.errors;
  const text = [
    textTable(['', ' seconds', 'writes', 'p50 ms', 'p99 ms', ' reads', 'p50 ms', 'p99 ms', 'errors'], rows),
    `${WRITERS} writers and ${READERS} readers, ${size} resources and the charts of the bench.`,
  ];
  return { text: text.join('\n\n'), isKept: errors === 0 };
}

/** Ends when all rows are built. */
async function reindex(databaseUrl: string, cleanup: Cleanup): Promise<void> {
  const child = spawn(process.execPath, [resolve('dist/tools/reindex/reindex.js')], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    stdio: 'inherit',
  });
  await cleanup.undoing(child, (started) => started.kill());
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The rows were not built.');
}

async function workUntil(server: OwnContender, end: Promise<unknown>): Promise<Work> {
  const client = new LoadClient(server);
  const writes: number[] = [];
  const reads: number[] = [];
  const startedAt = performance.now();
  let [errors, isOver] = [0, false];
  const loop = async (cases: readonly BenchCase[], latencies: number[], first: number): Promise<void> => {
    for (let n = first; !isOver; n += cases.length) {
      for (const { requestOf, expectedStatus } of cases) {
        const sentAt = performance.now();
        const { status } = await client.send(requestOf(n));
        latencies.push(performance.now() - sentAt);
        if (status !== expectedStatus) errors += 1;
      }
    }
  };
  const loops = [
    ...Array.from({ length: WRITERS }, (_, n) => loop([UPDATE], writes, n * 100)),
    ...Array.from({ length: READERS }, (_, n) => loop([READ, SEARCH], reads, n * 100)),
  ];
  try {
    await end;
  } finally {
    isOver = true;
    await Promise.all(loops);
    client.close();
  }
  return { seconds: (performance.now() - startedAt) / 1_000, writes, reads, errors };
}

function rowOf(name: string, { seconds, writes, reads, errors }: Work): string[] {
  const numbers = [
    seconds.toFixed(0),
    ...[writes, reads].flatMap((latencies) => [
      String(latencies.length),
      quantile(latencies, 0.5).toFixed(1),
      quantile(latencies, 0.99).toFixed(1),
    ]),
    String(errors),
  ];
  return [name, ...numbers.map((number) => number.padStart(6))];
}
