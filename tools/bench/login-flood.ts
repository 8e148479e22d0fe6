import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Cleanup } from './cleanup';
import { LoadClient } from './load-client';
import { type Flood } from './login-flooder';
import { readUntil, withPriority } from './paced-reads';
import { loginOf } from './prepare-server';
import { quantile } from './statistics';
import { setUpServer } from './test-bed';

const BASELINE_SECONDS = 10;
/** The number of floods. One flood has only a few hundred reads, too few for a reliable p99. */
const ROUNDS = 5;
/** The number of logins before the floods, as on a server in use. */
const WARM_UP_LOGINS = 200;

/** Measures the latency of readers while `count` logins arrive at once (docs/performance.md, "A flood of logins"). */
export async function measureFlood(count: number, cleanup: Cleanup): Promise<string> {
  const bed = await setUpServer(cleanup);
  const reader = new LoadClient(bed.server);
  const flooder = fork(resolve('dist/tools/bench/login-flooder.js'));
  const flood = { url: new URL('/auth/token', bed.server.baseUrl).href, form: loginOf(bed.secrets), count };
  try {
    await answersTo(flooder, { ...flood, count: WARM_UP_LOGINS });
    return reportOf(await withPriority(() => runRounds(reader, flooder, flood)));
  } finally {
    flooder.kill();
    reader.close();
  }
}

async function runRounds(reader: LoadClient, flooder: ChildProcess, flood: Flood): Promise<readonly FloodResult[]> {
  await readUntil(reader, delay(3_000));
  const rounds: FloodResult[] = [];
  while (rounds.length < ROUNDS) {
    const alone = await readUntil(reader, delay(BASELINE_SECONDS * 1_000));
    const startedAt = performance.now();
    const logins = answersTo(flooder, flood);
    const during = await readUntil(reader, logins);
    const seconds = (performance.now() - startedAt) / 1_000;
    rounds.push({ alone, during, statuses: await logins, seconds });
  }
  return rounds;
}

interface FloodResult {
  /** Latencies of reads in ms. */
  readonly alone: readonly number[];
  readonly during: readonly number[];
  readonly statuses: readonly number[];
  readonly seconds: number;
}

function reportOf(rounds: readonly FloodResult[]): string {
  const line = (name: string, latencies: readonly number[]): string =>
    `${name.padEnd(22)} ${latencies.length} reads, p50 ${quantile(latencies, 0.5).toFixed(1)} ms, p99 ${quantile(latencies, 0.99).toFixed(1)} ms`;
  const alone = rounds.flatMap((round) => round.alone);
  const during = rounds.flatMap((round) => round.during);
  const statuses = rounds.flatMap((round) => round.statuses);
  const counts = [...new Set(statuses)].sort().map((status) => {
    const times = statuses.filter((other) => other === status).length;
    return `${times} answered ${status}`;
  });
  const ratio = quantile(during, 0.99) / quantile(alone, 0.99);
  const longest = Math.max(...rounds.map(({ seconds }) => seconds));
  return [
    line('without logins', alone),
    line(`with ${statuses.length / rounds.length} logins at once`, during),
    `p99 ratio ${ratio.toFixed(2)} in ${rounds.length} rounds; logins: ${counts.join(', ')}, in ${longest.toFixed(1)} s at most`,
  ].join('\n');
}

/** The statuses of the logins, once all were answered. */
async function answersTo(flooder: ChildProcess, flood: Flood): Promise<readonly number[]> {
  flooder.send(flood);
  const [statuses] = (await once(flooder, 'message')) as [readonly number[]];
  return statuses;
}
