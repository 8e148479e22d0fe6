import { ProgressBar } from '../progress-bar';
import { type BenchCase, type Target } from './bench-case';
import { type CpuMeter } from './cpu-meter';
import { CONCURRENCY, LoadClient } from './load-client';
import { type Measured, type Round, measuredOf } from './measured';

export const ROUNDS = 3;

export interface Contender extends Target {
  /** Absent for an external server. */
  readonly meter?: CpuMeter;
}

/**
 * Runs a case on all contenders in turns (A B A B …), so that all share the same load of the machine. The first round
 * of each is a warm-up and not counted: it compiles code, plans statements and fills caches.
 */
export async function runCase(bench: BenchCase, contenders: readonly Contender[]): Promise<Measured[]> {
  const total = bench.operations * contenders.length * (ROUNDS + 1);
  const progress = new ProgressBar({ label: bench.name.padEnd(20), total });
  const clients = contenders.map((contender) => new LoadClient(contender));
  const rounds: Round[][] = contenders.map(() => []);
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [index, contender] of contenders.entries()) {
        const client = clients[index];
        if (client === undefined) continue;
        const result = await runRound(bench, client, contender.meter, () => {
          progress.advance();
        });
        if (round > 0) rounds[index]?.push(result);
      }
    }
  } finally {
    for (const client of clients) client.close();
  }
  return rounds.map(measuredOf);
}

/** One round on one server. */
export async function runRound(
  bench: BenchCase,
  client: LoadClient,
  meter: CpuMeter | undefined,
  onAnswer: () => void,
): Promise<Round> {
  const work = (): Promise<Omit<Round, 'cpu'>> => sendAll(bench, client, onAnswer);
  if (meter === undefined) return { ...(await work()), cpu: undefined };
  const { result, cpu } = await meter.measure(work);
  return { ...result, cpu };
}

/** A closed loop: each client sends its next request after the previous response. */
async function sendAll(bench: BenchCase, client: LoadClient, onAnswer: () => void): Promise<Omit<Round, 'cpu'>> {
  const { operations, expectedStatus, requestOf } = bench;
  const latencies: number[] = [];
  let [next, errors, answerBytes] = [0, 0, 0];
  const lane = async (): Promise<void> => {
    while (next < operations) {
      const request = requestOf(next++);
      const sentAt = performance.now();
      const { status, sizeBytes } = await client.send(request);
      latencies.push(performance.now() - sentAt);
      answerBytes += sizeBytes;
      if (status !== expectedStatus) errors += 1;
      onAnswer();
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return { operations, seconds: (performance.now() - startedAt) / 1000, latencies, answerBytes, errors };
}
