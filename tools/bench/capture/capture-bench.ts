import { textTable } from '../../demo/text-table';
import { ProgressBar } from '../../progress-bar';
import { type BenchCase } from '../bench-case';
import { CREATE, TRANSACTION, UPDATE } from '../bench-data';
import { type Cleanup } from '../cleanup';
import { LoadClient } from '../load-client';
import { type Round, measuredOf, totalMicroseconds } from '../measured';
import { runRound } from '../run-case';
import { median } from '../statistics';
import { type OwnContender } from '../test-bed';
import { CaptureBed } from './capture-bed';
import { type CaptureScene, FIFTY_OTHERS, ONE, ONE_WITH_CRITERION, WITHOUT } from './capture-scenes';
import { SilentReceiver } from './silent-receiver';

const TYPE = 'Observation';

/**
 * The number of rounds. There are more than in other suites, because the result is a ratio between two scenes of one
 * server.
 */
const ROUNDS = 5;

/** The number of uncounted writes before each round. They reload the registries that the changed topics invalidate. */
const WARM_UP_OPERATIONS = 16;

/** A kind of write with the scenes to measure it in; the scene without topics comes first. */
interface CapturePlan {
  readonly bench: BenchCase;
  readonly scenes: readonly CaptureScene[];
}

const PLANS: readonly CapturePlan[] = [
  { bench: { ...CREATE, operations: 800 }, scenes: [WITHOUT, ONE, ONE_WITH_CRITERION, FIFTY_OTHERS] },
  { bench: { ...UPDATE, operations: 600 }, scenes: [WITHOUT, ONE] },
  { bench: { ...TRANSACTION, operations: 30 }, scenes: [WITHOUT, ONE, ONE_WITH_CRITERION] },
];

/**
 * Measures the cost of events for the writes that cause them: the same writes without topics and with some, in turns.
 * Receivers never respond, so that no delivery is measured.
 */
export async function measureCapture(server: OwnContender, cleanup: Cleanup): Promise<string> {
  const receiver = await cleanup.undoing(SilentReceiver.start(), (started) => started.stop());
  const bed = await CaptureBed.setUp(server, TYPE, receiver.url);
  const lines: string[][] = [];
  for (const plan of PLANS) {
    const rounds = await runScenes(plan, server, bed);
    for (const [index, scene] of plan.scenes.entries()) {
      lines.push(lineOf(index === 0 ? plan.bench.name : '', scene, rounds[index] ?? [], rounds[0] ?? []));
    }
  }
  await bed.tearDown();
  return textTable(HEADINGS, lines);
}

/** Runs the rounds of all scenes in turns (A B C A B C …). The first round of each is a warm-up and not counted. */
async function runScenes({ bench, scenes }: CapturePlan, server: OwnContender, bed: CaptureBed): Promise<Round[][]> {
  const progress = new ProgressBar({
    label: `capture, ${bench.name}`.padEnd(20),
    total: scenes.length * (ROUNDS + 1) * (bench.operations + WARM_UP_OPERATIONS),
  });
  const onAnswer = (): void => {
    progress.advance();
  };
  const client = new LoadClient(server);
  const rounds: Round[][] = scenes.map(() => []);
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [index, scene] of scenes.entries()) {
        await bed.activate(scene);
        const before = await bed.countEvents();
        await runRound({ ...bench, operations: WARM_UP_OPERATIONS }, client, undefined, onAnswer);
        const result = await runRound(bench, client, server.meter, onAnswer);
        assertCaptured(scene, bench, (await bed.countEvents()) - before);
        if (round > 0) rounds[index]?.push(result);
      }
    }
  } finally {
    client.close();
  }
  return rounds;
}

/** Fails if the round did not capture all events of its scene, since it then measured something else. */
function assertCaptured({ name, eventsPerResource }: CaptureScene, bench: BenchCase, events: number): void {
  const { operations, resources = 1 } = bench;
  const expected = (operations + WARM_UP_OPERATIONS) * resources * eventsPerResource;
  if (events !== expected) throw new Error(`Topics "${name}": ${events} events were captured instead of ${expected}`);
}

const HEADINGS = [
  ...['write', 'topics', 'per second', 'server µs', 'database µs', 'total µs'],
  ...['p50 ms', 'ratio', 'rounds', 'errors'],
];

/**
 * The table row of a scene. Each ratio compares a round with the neighboring round without topics, since both share the
 * same load of the machine. The row shows the ratios and their median.
 */
function lineOf(write: string, scene: CaptureScene, rounds: readonly Round[], without: readonly Round[]): string[] {
  const { perSecond, cpu, p50Milliseconds, errors } = measuredOf(rounds);
  const ratios = rounds.map((round, index) => costOf(round) / costOf(without[index]));
  const isCompared = scene !== WITHOUT && cpu !== undefined;
  const numbers = [
    perSecond.toFixed(0),
    cpu?.serverMicroseconds.toFixed(0) ?? '-',
    cpu?.databaseMicroseconds.toFixed(0) ?? '-',
    cpu === undefined ? '-' : totalMicroseconds(cpu).toFixed(0),
    p50Milliseconds.toFixed(1),
    isCompared ? median(ratios).toFixed(2) : '-',
    isCompared ? ratios.map((ratio) => ratio.toFixed(2)).join(' ') : '-',
    String(errors),
  ];
  return [write, scene.name, ...numbers.map((number, index) => number.padStart(HEADINGS[index + 2]?.length ?? 0))];
}

/** CPU of one operation in µs; NaN if not measured. */
const costOf = (round: Round | undefined): number =>
  round?.cpu === undefined ? Number.NaN : totalMicroseconds(round.cpu) / round.operations;
