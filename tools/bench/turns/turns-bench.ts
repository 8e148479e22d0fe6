import { type BenchRequest } from '../bench-case';
import { type Cleanup } from '../cleanup';
import { LoadClient } from '../load-client';
import { setUpServer } from '../test-bed';
import { TURNS_CASES } from './turns-cases';

/** Bodies in megabytes: a common size, and near the limit of 20 MiB. */
const SIZES = [1, 19];

/**
 * Small requests in sequence measure the waiting time of other callers. Their route uses no database and no time
 * slices: a request with slices waits for several turns.
 */
const PROBE: BenchRequest = { method: 'GET', path: '/metadata?mode=terminology' };

/**
 * Measures how long one turn of the event loop delays other requests, for large bodies on every route
 * (docs/performance.md, "Turns").
 */
export async function measureTurns(cleanup: Cleanup): Promise<string> {
  const { server } = await setUpServer(cleanup);
  const [sender, prober] = [new LoadClient(server), new LoadClient(server)];
  try {
    await longestWait(prober, prober.send(PROBE));
    const lines = ['size    route                                longest wait of others   statuses'];
    for (const megabytes of SIZES) {
      for (const { name, requestsOf } of TURNS_CASES) {
        const statuses: number[] = [];
        const waits: number[] = [];
        for (const request of requestsOf(megabytes)) {
          const answer = sender.send(request);
          waits.push(await longestWait(prober, answer));
          const { status } = await answer;
          if (status > 299) throw new Error(`${name}, ${megabytes} MB: answered ${status}, so nothing was measured`);
          statuses.push(status);
        }
        const wait = `${Math.max(...waits).toFixed(0)} ms`;
        lines.push(`${`${megabytes} MB`.padEnd(7)} ${name.padEnd(36)} ${wait.padStart(22)}   ${statuses.join(' ')}`);
      }
    }
    return lines.join('\n');
  } finally {
    sender.close();
    prober.close();
  }
}

/** The longest duration of a small request until `work` ends. */
async function longestWait(prober: LoadClient, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.then(() => (isOver = true));
  let longest = 0;
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- changed by the callback above
  while (!isOver) {
    const startedAt = performance.now();
    await prober.send(PROBE);
    longest = Math.max(longest, performance.now() - startedAt);
  }
  return longest;
}
