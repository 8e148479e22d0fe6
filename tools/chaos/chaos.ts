import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Cleanup, runUndoing } from '../bench/cleanup';
import { Random } from '../chart/random';
import { readOptions } from '../options';
import { ProgressBar } from '../progress-bar';
import { TotalsWatch, audit, drained } from './auditor';
import { Calm } from './calm';
import { setUpChaos } from './chaos-bed';
import { FAULTS, FaultLog, faultsOf } from './fault-log';
import { FaultyReceiver } from './faulty-receiver';
import { tormentDatabase, tormentReplica } from './killer';
import { wasteNumbers, writeAlone } from './lone-writers';
import { PreparedTransactions } from './prepared-transactions';
import { reportOf } from './report';
import { SlowFaults } from './slow-faults';
import { WriteLog, writeUntil } from './writers';

const USAGE =
  'npm run chaos [-- options]: breaks servers and database while events are delivered (docs/reliability.md).';

const REPLICAS = 2;
const WRITERS = 16;
/** How long nothing may move before the wait for empty queues ends: longer than the longest pause after failures. */
const IDLE_SECONDS = 100;

const tell = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/**
 * Kills servers and the database, and delays responses and commits, while clients write and receivers misbehave. Then
 * compares the acknowledged writes, the arrivals and the stored resources (docs/reliability.md).
 */
async function main(cleanup: Cleanup): Promise<number> {
  const { minutes, kills, seed, faults: names, destinations, build, processes, pooler } = optionsOf();
  tell(`seed ${seed}, faults ${names.join(',')}`);
  const random = (name: number): Random => new Random(seed + name);
  const chosen = new Set(names);
  const receiver = await cleanup.undoing(FaultyReceiver.start(random(1), destinations), (started) => started.stop());
  const [writes, log, calm, prepared] = [new WriteLog(), new FaultLog(), new Calm(), new PreparedTransactions()];
  const kinds = new Set(names.flatMap((name) => FAULTS[name]));
  const slow = Array.from({ length: REPLICAS }, (_value, index) => new SlowFaults(random(40 + index), log, kinds));
  const bed = await setUpChaos({ folder: build, processes, faults: slow, prepared, receiver, pooler }, cleanup);
  const watch = new TotalsWatch(bed);
  const [writing, tormenting, auditing] = [new AbortController(), new AbortController(), new AbortController()];

  for (const faults of slow) faults.isOn = true;
  const committing = prepared.commitUntil(auditing.signal, bed);
  const watching = watch.until(writing.signal);
  const writers = Array.from({ length: WRITERS }, (_value, index) =>
    writeUntil(writing.signal, { bed, random: random(10 + index), calm, log: writes }),
  );
  const torments = [wasteNumbers(tormenting.signal, bed, random(31))];
  if (chosen.has('kill')) {
    torments.push(
      ...bed.replicas.map((replica, index) =>
        tormentReplica(replica, tormenting.signal, { bed, random: random(20 + index), receiver, calm, log }),
      ),
      tormentDatabase(tormenting.signal, { bed, random: random(30), calm, log }),
    );
  }
  if (chosen.has('lone')) torments.push(writeAlone(tormenting.signal, { bed, random: random(32), calm, log: writes }));
  await passTime(minutes * 60, () => log.count('kill -9', 'process killed', 'database crash') >= kills);
  tormenting.abort();
  await Promise.all(torments);
  await delay(2000);
  writing.abort();
  await Promise.all([...writers, watching]);
  for (const faults of slow) faults.isOn = false;
  receiver.isHealed = true;
  tell('Everything is healed; what waits is delivered.');
  await drained(bed, IDLE_SECONDS);
  const result = await audit(bed, { receiver, writes, faults: log, watch });
  auditing.abort();
  await committing;
  tell(reportOf(result, writes, log));
  return result.violations.length === 0 ? 0 : 1;
}

function optionsOf() {
  const text = { type: 'string' } as const;
  const options = {
    minutes: text,
    kills: text,
    seed: text,
    faults: text,
    destinations: text,
    build: text,
    processes: text,
    pooler: text,
    'pool-mode': text,
  };
  const { values } = readOptions(USAGE, { options });
  return {
    minutes: Number(values.minutes ?? 2),
    kills: Number(values.kills ?? Infinity),
    seed: Number(values.seed ?? randomInt(2 ** 31)),
    faults: faultsOf(values.faults ?? Object.keys(FAULTS).join(',')),
    destinations: Number(values.destinations ?? 8),
    build: resolve(values.build ?? 'dist'),
    processes: Number(values.processes ?? 1),
    pooler:
      values.pooler === undefined ? undefined : { program: values.pooler, mode: values['pool-mode'] ?? 'transaction' },
  };
}

async function passTime(seconds: number, isOver: () => boolean): Promise<void> {
  const progress = new ProgressBar({ label: 'chaos', total: seconds });
  for (let passed = 0; passed < seconds && !isOver(); passed++) {
    await delay(1000);
    progress.advance();
  }
}

runUndoing(main);
