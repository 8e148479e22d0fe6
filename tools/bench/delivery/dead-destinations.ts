import { ProgressBar } from '../../progress-bar';
import { type Cleanup } from '../cleanup';
import { type CpuShare } from '../cpu-meter';
import { runQuery } from '../own-database';
import { destination } from '../prepare-server';
import { DeadReceivers } from './dead-receivers';
import { type DeliveryBed, ONE, SEVERAL, topicOf } from './delivery-bed';
import { type PacedWrite, arrivalTimes, writeAtPace } from './paced-writes';

/** The delivery times of destinations whose receivers work, and the CPU time. */
export interface Comparison {
  readonly seconds: number;
  /** Milliseconds from the commit to the last byte, for the events of one destination and of several. */
  readonly one: readonly number[];
  readonly several: readonly number[];
  readonly cpu: CpuShare | undefined;
  /** The number of attempts that failed in these seconds. */
  readonly failures: number;
}

export const DEAD_COUNT = 200;
/** Writes per second: half of them go to one destination, the other half to five. */
const PER_SECOND = 20;
const SECONDS = 30;
/**
 * The number of turns without and with dead destinations. They alternate, so that both share the same load of the
 * machine.
 */
const TURNS = 3;
/** The timeout of the dead destinations: short, so that an endpoint that never responds is retried often. */
const TIMEOUT_SECONDS = 5;

/** The SQL that queues events for the dead destinations, which no receiver will accept. */
export const FILL = `insert into outbox_event (destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
  select r.destination_key, length(o.body), o.version, o.type, o.id, 'create', 'POST'
  from destination_runtime r cross join (select * from resource where type = 'Observation' limit 20) o
  where r.destination_id like 'dead-%'`;
/**
 * The SQL that empties the queues of the dead destinations. A running attempt then finds its batch gone, so its result
 * does not count.
 */
export const EMPTY = `with dead as (select destination_key from destination_runtime where destination_id like 'dead-%'),
    closed as (delete from open_batch where destination_key in (select destination_key from dead))
  delete from outbox_event where destination_key in (select destination_key from dead)`;

const FAILURES = 'select sum(failed_batches)::integer as failures from destination_runtime';

/** Measures living destinations alone, and together with many that accept nothing. */
export async function compareWithDead(
  bed: DeliveryBed,
  cleanup: Cleanup,
): Promise<{ readonly alone: Comparison; readonly beside: Comparison }> {
  const receivers = await cleanup.undoing(DeadReceivers.start(), (started) => started.stop());
  const timeout = { name: 'timeout', valueUnsignedInt: TIMEOUT_SECONDS };
  for (let index = 0; index < DEAD_COUNT; index++) {
    const endpoint = receivers.urls[index % receivers.urls.length] ?? '';
    await bed.put(`SvcTopicDestination/dead-${index}`, destination(topicOf('Basic'), endpoint, timeout));
  }
  const total = TURNS * 2 * PER_SECOND * SECONDS;
  const progress = new ProgressBar({ label: `${DEAD_COUNT} dead ones`.padEnd(20), total });
  const measure = (): Promise<Comparison> =>
    compare(bed, () => {
      progress.advance();
    });
  const turns: { alone: Comparison; beside: Comparison }[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const alone = await measure();
    await runQuery(bed.databaseUrl, FILL);
    turns.push({ alone, beside: await measure() });
    await runQuery(bed.databaseUrl, EMPTY);
  }
  return { alone: together(turns.map(({ alone }) => alone)), beside: together(turns.map(({ beside }) => beside)) };
}

async function compare(bed: DeliveryBed, onWrite: () => void): Promise<Comparison> {
  const pace = { types: [ONE.type, SEVERAL.type], perSecond: PER_SECOND, seconds: SECONDS };
  const failed = async (): Promise<number> =>
    (await runQuery<{ failures: number }>(bed.databaseUrl, FAILURES))[0]?.failures ?? 0;
  const failedBefore = await failed();
  const { result: writes, cpu } = await bed.meter.measure(() => writeAtPace(bed, pace, onWrite));
  const failures = (await failed()) - failedBefore;
  const timesOf = async (written: readonly PacedWrite[], group: typeof ONE | typeof SEVERAL) =>
    (await arrivalTimes(bed, written, group)).wholeSinceCommit;
  return { seconds: SECONDS, one: await timesOf(writes, ONE), several: await timesOf(writes, SEVERAL), cpu, failures };
}

function together(turns: readonly Comparison[]): Comparison {
  const shares = turns.flatMap(({ cpu }) => (cpu === undefined ? [] : [cpu]));
  const sum = (of: (share: CpuShare) => number): number => shares.reduce((total, share) => total + of(share), 0);
  return {
    seconds: turns.reduce((total, { seconds }) => total + seconds, 0),
    one: turns.flatMap(({ one }) => one),
    several: turns.flatMap(({ several }) => several),
    failures: turns.reduce((total, { failures }) => total + failures, 0),
    cpu:
      shares.length === 0
        ? undefined
        : {
            serverMicroseconds: sum((share) => share.serverMicroseconds),
            databaseMicroseconds: sum((share) => share.databaseMicroseconds),
          },
  };
}
