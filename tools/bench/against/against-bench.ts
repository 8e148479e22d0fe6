import { textTable } from '../../demo/text-table';
import { ProgressBar } from '../../progress-bar';
import { type BenchCase } from '../bench-case';
import { CREATE, EVERYTHING, READ, SEARCH, TRANSACTION, UPDATE } from '../bench-data';
import { type Cleanup } from '../cleanup';
import { type CpuShare } from '../cpu-meter';
import { LoadClient } from '../load-client';
import { type Round, totalMicroseconds } from '../measured';
import { runRound } from '../run-case';
import { median } from '../statistics';
import { type SuiteOptions, type SuiteReport, chosen } from '../suite';
import { type OwnContender, setUpServer } from '../test-bed';

const OPERATIONS = [READ, SEARCH, EVERYTHING, CREATE, UPDATE, TRANSACTION];
const PAIRS = 11;
/** The duration of a round. In a shorter one, a single garbage collection or checkpoint would change the result. */
const ROUND_SECONDS = 4;

/** Two rounds of the same operation: one on each build, in immediate succession. */
interface Pair {
  readonly other: Round;
  readonly own: Round;
}

/** Compares this build with another one: the CPU of each operation, in alternating rounds. */
export async function measureAgainst({ build, only }: SuiteOptions, cleanup: Cleanup): Promise<SuiteReport> {
  if (build === undefined) throw new Error('--build takes the folder "dist" of the other build.');
  const operations = chosen(OPERATIONS, only);
  const other = (await setUpServer(cleanup, { build })).server;
  const own = (await setUpServer(cleanup)).server;
  const rows: string[][] = [];
  let errors = 0;
  for (const bench of operations) {
    const pairs = await runPairs(bench, { other, own });
    rows.push(rowOf(bench.name, pairs));
    errors += pairs.reduce((sum, pair) => sum + pair.own.errors + pair.other.errors, 0);
  }
  const text = [
    textTable(HEADINGS, rows),
    `CPU of server and database for one operation; ${PAIRS} pairs of rounds of about ${ROUND_SECONDS} s, this build divided by the other.`,
    ...(errors === 0 ? [] : [`${errors} requests were not answered as expected.`]),
  ];
  return { text: text.join('\n\n'), isKept: errors === 0 };
}

/**
 * Runs the pairs of rounds. Both builds run the same number of operations, so their data stay equal. The build that
 * begins alternates.
 */
async function runPairs(bench: BenchCase, { other, own }: Record<keyof Pair, OwnContender>): Promise<Pair[]> {
  const clients = { other: new LoadClient(other), own: new LoadClient(own) };
  const silent = (): void => undefined;
  try {
    // This round compiles code and plans statements. Its duration determines the length of the next rounds.
    const slowest = Math.max(
      ...[
        await runRound(bench, clients.other, undefined, silent),
        await runRound(bench, clients.own, undefined, silent),
      ].map(({ seconds }) => seconds),
    );
    const operations = Math.ceil((bench.operations * ROUND_SECONDS) / slowest);
    const longer = { ...bench, operations };
    const progress = new ProgressBar({ label: bench.name.padEnd(20), total: PAIRS * 2 });
    const roundOf = async (name: keyof Pair): Promise<Round> => {
      const round = await runRound(longer, clients[name], { other, own }[name].meter, silent);
      progress.advance();
      return round;
    };
    const pairs: Pair[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      if (pair % 2 === 0) {
        const first = await roundOf('other');
        pairs.push({ other: first, own: await roundOf('own') });
      } else {
        const first = await roundOf('own');
        pairs.push({ own: first, other: await roundOf('other') });
      }
    }
    return pairs;
  } finally {
    clients.other.close();
    clients.own.close();
  }
}

const HEADINGS = ['operation', 'other µs', 'this µs', 'ratio', 'smallest', 'largest', 'server', 'database'];

function rowOf(name: string, pairs: readonly Pair[]): string[] {
  const ratiosOf = (cost: (cpu: CpuShare) => number): number[] =>
    pairs.map(({ own, other }) => costOf(own, cost) / costOf(other, cost));
  const totals = ratiosOf(totalMicroseconds);
  const numbers = [
    median(pairs.map(({ other }) => costOf(other, totalMicroseconds))).toFixed(0),
    median(pairs.map(({ own }) => costOf(own, totalMicroseconds))).toFixed(0),
    median(totals).toFixed(2),
    Math.min(...totals).toFixed(2),
    Math.max(...totals).toFixed(2),
    median(ratiosOf((cpu) => cpu.serverMicroseconds)).toFixed(2),
    median(ratiosOf((cpu) => cpu.databaseMicroseconds)).toFixed(2),
  ];
  return [name, ...numbers.map((number, index) => number.padStart(HEADINGS[index + 1]?.length ?? 0))];
}

/** Cost per operation; NaN if CPU times are not measured. */
const costOf = ({ cpu, operations }: Round, cost: (cpu: CpuShare) => number): number =>
  cpu === undefined ? Number.NaN : cost(cpu) / operations;
