import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Cleanup } from './cleanup';
import { CASES } from './bench-data';
import { LoadClient } from './load-client';
import { quantile } from './statistics';
import { setUpTestBed, type TestBed } from './test-bed';

/** Reads go out at this pace, whether the last one was answered or not: who waits would hide how long others wait. */
const READS_PER_SECOND = 100;
const BASELINE_SECONDS = 10;

/** Measures what readers feel while `count` logins arrive at once (docs/performance.md, "A flood of logins"). */
export async function measureFlood(count: number, cleanup: Cleanup): Promise<string> {
  const bed = await setUpTestBed(cleanup);
  const reader = new LoadClient(bed.server);
  try {
    await readUntil(reader, delay(3_000)); // warms up
    const alone = await readUntil(reader, delay(BASELINE_SECONDS * 1_000));
    const startedAt = performance.now();
    const logins = Promise.all(Array.from({ length: count }, () => logIn(bed)));
    const during = await readUntil(reader, logins);
    const seconds = (performance.now() - startedAt) / 1_000;
    return reportOf({ alone, during, statuses: await logins, seconds });
  } finally {
    reader.close();
  }
}

interface FloodResult {
  /** Latencies of reads in ms. */
  readonly alone: readonly number[];
  readonly during: readonly number[];
  /** Of the logins. */
  readonly statuses: readonly number[];
  readonly seconds: number;
}

function reportOf({ alone, during, statuses, seconds }: FloodResult): string {
  const line = (name: string, latencies: readonly number[]): string =>
    `${name.padEnd(22)} ${latencies.length} reads, p50 ${quantile(latencies, 0.5).toFixed(1)} ms, p99 ${quantile(latencies, 0.99).toFixed(1)} ms`;
  const counts = [...new Set(statuses)].sort().map((status) => {
    const times = statuses.filter((other) => other === status).length;
    return `${times} answered ${status}`;
  });
  const ratio = quantile(during, 0.99) / quantile(alone, 0.99);
  return [
    line('without logins', alone),
    line(`with ${statuses.length} logins at once`, during),
    `p99 ratio ${ratio.toFixed(2)}; logins: ${counts.join(', ')}, in ${seconds.toFixed(1)} s`,
  ].join('\n');
}

/** Latencies of the reads that were sent until `end`, at an even pace. */
async function readUntil(reader: LoadClient, end: Promise<unknown>): Promise<readonly number[]> {
  const read = CASES.find(({ name }) => name === 'read');
  if (read === undefined) throw new Error('There is no case "read".');
  const waiting: Promise<number>[] = [];
  const over = new AbortController();
  const whenOver = end.finally(() => {
    over.abort();
  });
  const startedAt = performance.now();
  while (!over.signal.aborted) {
    const dueAt = startedAt + (waiting.length * 1_000) / READS_PER_SECOND;
    await delay(Math.max(0, dueAt - performance.now()));
    waiting.push(reader.send(read.requestOf(waiting.length)).then(() => performance.now() - dueAt));
  }
  await whenOver;
  return Promise.all(waiting);
}

const agent = new Agent({ maxSockets: Infinity });

function logIn({ server, login }: TestBed): Promise<number> {
  const body = new URLSearchParams(login).toString();
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve) => {
    request(new URL('/auth/token', server.baseUrl), { method: 'POST', headers, agent }, (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode ?? 0);
      });
    })
      .on('error', () => {
        resolve(0);
      })
      .end(body);
  });
}
