import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Cleanup } from '../bench/cleanup';
import { quantile } from '../bench/statistics';
import { Random } from '../chart/random';
import { readOptions } from '../options';
import { ProgressBar } from '../progress-bar';
import { type Audit, TotalsWatch, audit, drained } from './auditor';
import { setUpChaos } from './chaos-bed';
import { FaultyReceiver } from './faulty-receiver';
import { FaultLog, tormentDatabase, tormentReplica } from './killer';
import { WriteLog, writeUntil } from './writers';

const USAGE =
  'npm run chaos [-- options]: breaks servers and database while events are delivered (docs/reliability.md).';

const REPLICAS = 2;
const WRITERS = 8;
const DRAIN_SECONDS = 600;
const SHOWN_VIOLATIONS = 20;

const tell = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/**
 * Kills servers and the database while clients write and receivers misbehave, then compares what was acknowledged, what
 * arrived and what is stored (docs/reliability.md).
 */
async function main(cleanup: Cleanup): Promise<number> {
  const text = { type: 'string' } as const;
  const {
    minutes = '2',
    kills,
    seed = String(randomInt(2 ** 31)),
  } = readOptions(USAGE, {
    options: { minutes: text, kills: text, seed: text },
  }).values;
  tell(`seed ${seed}`);
  const random = (name: number): Random => new Random(Number(seed) + name);
  const receiver = await cleanup.undoing(FaultyReceiver.start(random(1)), (started) => started.stop());
  const bed = await setUpChaos({ folder: resolve('dist'), count: REPLICAS, receiver }, cleanup);
  const [writes, log, watch] = [new WriteLog(), new FaultLog(), new TotalsWatch(bed)];
  const [writing, tormenting] = [new AbortController(), new AbortController()];

  const watching = watch.until(writing.signal);
  const writers = Array.from({ length: WRITERS }, (_value, index) =>
    writeUntil(writing.signal, bed, random(10 + index), writes),
  );
  const torments = [
    ...bed.replicas.map((replica, index) =>
      tormentReplica(replica, tormenting.signal, { bed, random: random(20 + index), receiver, log }),
    ),
    tormentDatabase(tormenting.signal, { bed, random: random(30), log }),
  ];
  await passTime(
    Number(minutes) * 60,
    () => kills !== undefined && log.count('kill -9', 'database crash') >= Number(kills),
  );
  tormenting.abort();
  await Promise.all(torments);
  await delay(2000);
  writing.abort();
  await Promise.all([...writers, watching]);
  receiver.isHealed = true;
  tell('Everything is healed; what waits is delivered.');
  await drained(bed, DRAIN_SECONDS);
  const result = await audit(bed, { receiver, writes, faults: log, watch });
  report(result, writes, log);
  return result.violations.length === 0 ? 0 : 1;
}

async function passTime(seconds: number, isOver: () => boolean): Promise<void> {
  const progress = new ProgressBar({ label: 'chaos', total: seconds });
  for (let passed = 0; passed < seconds && !isOver(); passed++) {
    await delay(1000);
    progress.advance();
  }
}

function report(
  { violations, committed, destinations, arrived, repeated, samples }: Audit,
  writes: WriteLog,
  log: FaultLog,
): void {
  const count = (name: string): number => violations.filter(({ invariant }) => invariant.startsWith(name)).length;
  const expected = committed * destinations;
  const repeatedEvents = arrived - expected + count('I1');
  tell(`
faults        ${log.count('kill -9')} servers killed, ${log.count('database crash')} database crashes, ${log.count('SIGTERM')} SIGTERM, ${log.count('connections cut')} times connections cut
writes        ${writes.acknowledged.size} versions acknowledged, ${writes.unknown} calls without an answer, ${writes.refused} transactions rolled back
committed     ${committed} events × ${destinations} destinations = ${expected}
lost          ${count('I1')}
phantom       ${count('I2') + count('rolled back')}
inversions    ${count('I3')}
number gaps   ${count('I4')}
other bytes   ${count('I5')}
totals wrong  ${count('I6') + count('I7')} of ${samples} samples
two at once   ${count('I8')}
duplicates    ${repeatedEvents} events (${((100 * repeatedEvents) / expected).toFixed(2)} %) in ${repeated} batches, ${count('I9')} unexplained
takeover      ${log.takeovers.length} kills during an attempt, to the next one: ${timesOf(log.takeovers)}
database      from its crash to its first answer: ${timesOf(log.databaseRestarts)}
broken        ${violations.length}`);
  for (const { invariant, detail } of violations.slice(0, SHOWN_VIOLATIONS)) tell(`  ${invariant}: ${detail}`);
}

const timesOf = (milliseconds: readonly number[]): string =>
  milliseconds.length === 0
    ? 'none was timed'
    : `p50 ${quantile(milliseconds, 0.5).toFixed(0)} ms, p99 ${quantile(milliseconds, 0.99).toFixed(0)} ms`;

const cleanup = new Cleanup();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    void cleanup.run().then(() => process.exit(130));
  });
}
main(cleanup)
  .catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return 1;
  })
  .then(async (code) => {
    await cleanup.run();
    process.exitCode = code;
  })
  .catch(() => undefined);
