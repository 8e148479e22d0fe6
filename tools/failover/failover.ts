import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runQuery } from '../bench/own-database';
import { type Cleanup, runUndoing } from '../bench/cleanup';
import { quantile } from '../bench/statistics';
import { Random } from '../chart/random';
import { type Audit, type Violation, TotalsWatch, audit, drained, violationsByGeneration } from '../chaos/auditor';
import { Calm } from '../chaos/calm';
import { type ChaosBed, startServers } from '../chaos/chaos-bed';
import { FaultLog } from '../chaos/fault-log';
import { FaultyReceiver } from '../chaos/faulty-receiver';
import { reportOf } from '../chaos/report';
import { SlowFaults } from '../chaos/slow-faults';
import { WriteLog, writeUntil } from '../chaos/writers';
import { readOptions } from '../options';
import { PatroniCluster, TTL_SECONDS } from './patroni-cluster';

const USAGE =
  'npm run failover [-- options]: replaces the primary of a Patroni cluster under load (docs/reliability.md). Needs Linux, patroni, etcd and PostgreSQL; with --proxy HAProxy.';

const SERVERS = 2;
const WRITERS = 8;
/** The longest allowed time without an acknowledged write. */
const LONGEST_GAP_SECONDS = TTL_SECONDS + 10;
/** The id of the destination whose receiver always succeeds: destination `d<n>` sends to the nth receiver. */
const HEALTHY = 'd1';
const IDLE_SECONDS = 100;
const WARNING = 'acknowledged writes may be missing';
/** Names of invariants that fail by design if acknowledged writes are lost. */
const NEED_SYNCHRONOUS = /^(acknowledged|I2|I3|I4|I5|I7)/;

const FAULTS = ['switchover', 'kill', 'freeze'] as const;
type Fault = (typeof FAULTS)[number];

const tell = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

async function main(cleanup: Cleanup): Promise<number> {
  const { rounds, seed, faults, usesProxy, isSynchronous, build } = optionsOf();
  tell(`seed ${seed}, ${isSynchronous ? '' : 'a'}synchronous, by ${usesProxy ? 'HAProxy' : 'host list'}`);
  const random = (name: number): Random => new Random(seed + name);
  const cluster = await PatroniCluster.start({ isSynchronous, usesProxy }, cleanup);
  await runQuery(cluster.directUrl('postgres'), 'create database svc');
  const receiver = await cleanup.undoing(FaultyReceiver.start(random(1), 4), (started) => started.stop());
  const [writes, log, calm] = [new WriteLog(), new FaultLog(), new Calm()];
  const places = Array.from({ length: SERVERS }, (_value, index) => ({
    name: `server ${index + 1}`,
    faults: new SlowFaults(random(40 + index), log, new Set()),
    databaseUrl: cluster.url('svc'),
  }));
  const bed = await startServers(
    { folder: build, data: '.', places, databaseUrl: cluster.directUrl('svc'), receiver, logLevel: 'warn' },
    cleanup,
  );
  const watch = new TotalsWatch(bed);
  const writing = new AbortController();
  const watching = watch.until(writing.signal);
  const writers = Array.from({ length: WRITERS }, (_value, index) =>
    writeUntil(writing.signal, { bed, random: random(10 + index), calm, log: writes }),
  );
  const gaps: number[] = [];
  const violations: Violation[] = [];
  const generations = new Set([await generationOf(bed)]);
  for (let round = 0; round < rounds; round++) {
    const fault = faults[round % faults.length] ?? 'switchover';
    const gap = await replacePrimary(fault, { cluster, bed, receiver, writes, log, isSynchronous });
    gaps.push(gap);
    generations.add(await generationOf(bed));
    tell(`round ${round + 1}, ${fault}: longest time without an acknowledged write ${gap.toFixed(1)} s`);
    await delay(random(round).integer(2000, 6000));
  }
  writing.abort();
  await Promise.all([...writers, watching]);
  receiver.isHealed = true;
  await drained(bed, IDLE_SECONDS);
  const result = await audit(bed, { receiver, writes, faults: log, watch });
  const isMeant = ({ invariant }: Violation): boolean => isSynchronous || !NEED_SYNCHRONOUS.test(invariant);
  violations.push(...result.violations.filter(isMeant), ...violationsByGeneration(receiver));
  violations.push(...endsOf(bed, { gaps: isSynchronous ? gaps : [], generations, rounds }));
  const missing = result.violations.filter(({ invariant }) => invariant.startsWith('acknowledged')).length;
  if (!isSynchronous && missing === 0 && faults.slice(0, rounds).some((fault) => fault !== 'switchover'))
    violations.push({ invariant: 'loss', detail: 'no acknowledged write was lost, so the run shows nothing' });
  tell(reportOf({ ...result, violations } satisfies Audit, writes, log));
  tell(`missing       ${missing} acknowledged versions
generations   ${generations.size} after ${rounds} rounds
first success p50 ${quantile(gaps, 0.5).toFixed(1)} s, p99 ${quantile(gaps, 0.99).toFixed(1)} s after the fault (at most ${LONGEST_GAP_SECONDS} s)`);
  return violations.length === 0 ? 0 : 1;
}

/** Returns the longest time in seconds in which one of the servers acknowledged nothing. */
async function replacePrimary(
  fault: Fault,
  {
    cluster,
    bed,
    receiver,
    writes,
    log,
    isSynchronous,
  }: {
    cluster: PatroniCluster;
    bed: ChaosBed;
    receiver: FaultyReceiver;
    writes: WriteLog;
    log: FaultLog;
    isSynchronous: boolean;
  },
): Promise<number> {
  const timeline = await cluster.isReady();
  if (!isSynchronous && fault !== 'switchover') {
    await cluster.cutReplication();
    await delay(1000);
  }
  const crash = log.addCrash('database crash', performance.now());
  writes.watchGaps(bed.replicas.map(({ server }) => server?.url ?? ''));
  let heal = (): Promise<void> => Promise.resolve();
  if (fault === 'switchover') await cluster.switchover();
  else heal = await (fault === 'kill' ? cluster.killPrimary() : cluster.freezePrimary());
  await cluster.isReplaced(timeline);
  await writes.everyServerAcknowledged();
  crash.endedAt = performance.now();
  log.databaseRestarts.push(crash.endedAt - crash.at);
  await withinSeconds(LONGEST_GAP_SECONDS, 'nothing is delivered', receiver.nextAt(HEALTHY, crash.endedAt));
  await heal();
  await cluster.isReady();
  crash.endedAt = performance.now();
  return writes.longestGap / 1000;
}

async function withinSeconds(seconds: number, fault: string, work: Promise<unknown>): Promise<void> {
  const isLate = delay(seconds * 1000, undefined, { ref: false }).then(() => {
    throw new Error(`After the failover ${fault} for ${seconds} s.`);
  });
  await Promise.race([work, isLate]);
}

async function generationOf(bed: ChaosBed): Promise<string> {
  const [row] = await bed.query<{ generation: string }>('select generation from delivery_generation');
  return row?.generation ?? '';
}

function endsOf(
  bed: ChaosBed,
  { gaps, generations, rounds }: { gaps: readonly number[]; generations: ReadonlySet<string>; rounds: number },
): Violation[] {
  const found: Violation[] = [];
  const longest = gaps.length === 0 ? 0 : quantile(gaps, 0.99);
  if (longest > LONGEST_GAP_SECONDS) found.push({ invariant: 'first success', detail: `${longest.toFixed(1)} s` });
  if (generations.size <= rounds) found.push({ invariant: 'generation', detail: 'a failover made no new one' });
  const lines = bed.replicas.flatMap(({ server }) => server?.written ?? []);
  const warnings = lines.filter((line) => line.includes(WARNING)).length;
  if (warnings < rounds) found.push({ invariant: 'warning', detail: `${warnings} in the log for ${rounds} rounds` });
  return found;
}

function optionsOf() {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
  const { values } = readOptions(USAGE, {
    options: { rounds: text, seed: text, faults: text, build: text, proxy: flag, asynchronous: flag },
  });
  const names = values.faults?.split(',') ?? FAULTS;
  return {
    rounds: Number(values.rounds ?? 6),
    seed: Number(values.seed ?? randomInt(2 ** 31)),
    faults: FAULTS.filter((fault) => names.includes(fault)),
    usesProxy: values.proxy === true,
    isSynchronous: values.asynchronous !== true,
    build: resolve(values.build ?? 'dist'),
  };
}

runUndoing(main);
