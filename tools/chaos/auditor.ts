import { setTimeout as delay } from 'node:timers/promises';
import { type ChaosBed, TIMEOUT_SECONDS } from './chaos-bed';
import { type FaultLog } from './fault-log';
import { type Arrival, type FaultyReceiver } from './faulty-receiver';
import { type TimeOut, isAnsweredLate, repeatsWithoutCrash } from './repeats';
import { PHANTOM, type WriteLog } from './writers';

/** A broken invariant, with its evidence. */
export interface Violation {
  readonly invariant: string;
  readonly detail: string;
}

/** The findings of the checks, and the number of items checked. */
export interface Audit {
  readonly violations: readonly Violation[];
  readonly committed: number;
  readonly destinations: number;
  readonly arrived: number;
  readonly repeated: number;
  /** Batches that were repeated because the sender timed out before the response arrived. */
  readonly answeredLate: number;
  readonly samples: number;
}

interface Totals {
  readonly id: string;
  readonly delivered: number;
  readonly failed: number;
  readonly accounted: number;
  readonly committed: number;
}

/**
 * The SQL of the totals, as one statement so that it has one snapshot. The events delivered, in process and queued must
 * equal the committed events.
 */
const TOTALS = `select r.destination_id as id, r.delivered_events::integer as delivered, r.failed_events::integer as failed,
    (r.delivered_events + coalesce(cardinality(b.event_ids), 0)
      + (select count(*) from outbox_event e where e.destination_key = r.destination_key))::integer as accounted,
    ((select count(*) from resource where type = 'Patient')
      + (select count(*) from resource_history where type = 'Patient'))::integer as committed
  from destination_runtime r left join open_batch b on b.destination_key = r.destination_key`;

const COMMITTED = `select 'Patient/' || id || '/' || version as key from resource where type = 'Patient'
  union all select 'Patient/' || id || '/' || version from resource_history where type = 'Patient'`;

/** The SQL of attempts that reached their timeout. Attempts that ended earlier do not explain a repeat. */
const TIME_OUTS = `select r.destination_id as destination, a.first_number::integer as "firstNumber",
    extract(epoch from a.ended_at)::double precision * 1000 - ${performance.timeOrigin} as "endedAt"
  from delivery_attempt a join destination_runtime r using (destination_key)
  where a.outcome = 'No answer within ${TIMEOUT_SECONDS} s' and a.duration_milliseconds >= ${TIMEOUT_SECONDS * 1000}`;

const WAITING = `select (select count(*) from outbox_event)::integer + (select count(*) from open_batch)::integer as waiting`;

const SAMPLE_MILLISECONDS = 500;

/** Samples the totals repeatedly during the faults (invariants 6 and 7). */
export class TotalsWatch {
  readonly violations: Violation[] = [];
  samples = 0;
  private readonly last = new Map<string, Totals>();

  constructor(private readonly bed: ChaosBed) {}

  async until(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(SAMPLE_MILLISECONDS);
      await this.sample().catch(() => undefined); // ignored: the database is down
    }
  }

  async sample(): Promise<void> {
    for (const totals of await this.bed.query<Totals>(TOTALS)) {
      const { id, delivered, failed, accounted, committed } = totals;
      const before = this.last.get(id);
      this.last.set(id, totals);
      this.samples++;
      if (accounted !== committed) this.violate('I6', `${id}: ${accounted} accounted for, ${committed} committed`);
      if (delivered < (before?.delivered ?? 0) || failed < (before?.failed ?? 0))
        this.violate('I7', `${id}: a total fell`);
    }
  }

  private violate(invariant: string, detail: string): void {
    this.violations.push({ invariant, detail });
  }
}

/**
 * Waits until nothing is queued, or nothing has moved for this time. Lost events would otherwise make it wait forever.
 */
export async function drained(bed: ChaosBed, idleSeconds: number): Promise<void> {
  let [least, movedAt] = [Infinity, performance.now()];
  while (least > 0 && performance.now() - movedAt < idleSeconds * 1000) {
    await delay(250);
    const [row] = await bed.query<{ waiting: number }>(WAITING).catch(() => []);
    const waiting = row?.waiting ?? Infinity;
    if (waiting < least) [least, movedAt] = [waiting, performance.now()];
  }
}

/** Compares the three records: acknowledged writes, arrivals, and stored resources. */
export async function audit(
  bed: ChaosBed,
  {
    receiver,
    writes,
    faults,
    watch,
  }: { receiver: FaultyReceiver; writes: WriteLog; faults: FaultLog; watch: TotalsWatch },
): Promise<Audit> {
  await watch.sample();
  const committed = new Set((await bed.query<{ key: string }>(COMMITTED)).map(({ key }) => key));
  const timeOuts = await bed.query<TimeOut>(TIME_OUTS);
  const violations: Violation[] = [...watch.violations];
  const violate = (invariant: string, keys: Iterable<string>): void => {
    for (const detail of keys) violations.push({ invariant, detail });
  };
  violate('acknowledged and not stored', minus(writes.acknowledged, committed));
  violate('acknowledged and replaced by another write', writes.acknowledgedAgain);
  violate(
    'rolled back and stored',
    [...committed].filter((key) => key.includes(PHANTOM) || key.includes('never')),
  );
  let answeredLate = 0;
  for (const destination of receiver.destinations) {
    const arrivals = receiver.arrivals.filter((arrival) => arrival.destination === destination);
    const first = firstSeen(arrivals);
    // All arrivals count: a failover that loses writes gives the same numbers again, in another generation.
    const received = new Set(arrivals.flatMap(({ events }) => events.map(({ key }) => key)));
    const at = (keys: Iterable<string>): string[] => [...keys].map((key) => `${destination}: ${key}`);
    violate('I1 lost', at(minus(committed, received)));
    violate('I2 phantom', at(minus(received, committed)));
    violate('I3 inverted', at(inversions(first.map(({ key }) => key))));
    violate('I4 number', at(numberFaults(first, arrivals)));
    const repeats = repeatsWithoutCrash(arrivals, faults.crashes);
    const unexplained = repeats.filter((repeat) => !isAnsweredLate(repeat, timeOuts));
    answeredLate += repeats.length - unexplained.length;
    violate('I9 repeated for no reason', at(unexplained.map(({ again }) => again.batchId)));
    const totals = (await bed.query<Totals>(TOTALS)).find(({ id }) => id === destination);
    if (totals?.delivered !== committed.size)
      violate('I6', at([`${totals?.delivered} delivered of ${committed.size}`]));
  }
  violate('I5 other bytes', otherBytes(receiver.arrivals));
  violate('I8 two at once', receiver.overlaps);
  violate('I10 redirect followed', Array<string>(receiver.trapHits).fill('trap'));
  violate('a server ended by itself', Array<string>(faults.exits).fill('exit'));
  const batches = new Set(receiver.arrivals.map(({ destination, batchId }) => `${destination} ${batchId}`));
  return {
    violations,
    committed: committed.size,
    destinations: receiver.destinations.length,
    arrived: receiver.arrivals.reduce((sum, { events }) => sum + events.length, 0),
    repeated: receiver.arrivals.length - batches.size,
    answeredLate,
    samples: watch.samples,
  };
}

/**
 * Violations of the order and numbers within a delivery generation. Both must hold even after a failover that lost
 * acknowledged writes.
 */
export function violationsByGeneration({ destinations, arrivals }: FaultyReceiver): Violation[] {
  return destinations.flatMap((destination) => {
    const own = arrivals.filter((arrival) => arrival.destination === destination);
    return [...new Set(own.map(({ generation }) => generation))].flatMap((generation) => {
      const sent = own.filter((arrival) => arrival.generation === generation);
      const first = firstSeen(sent);
      const at = (invariant: string) => (key: string) => ({
        invariant,
        detail: `${destination} ${generation}: ${key}`,
      });
      return [
        ...inversions(first.map(({ key }) => key)).map(at('I3 inverted')),
        ...reusedNumbers(first, sent).map(at('I4 number')),
      ];
    });
  });
}

const minus = (all: ReadonlySet<string>, others: ReadonlySet<string>): string[] =>
  [...all].filter((key) => !others.has(key));

interface Seen {
  readonly number: number;
  readonly key: string;
}

/** Each event number with the resource version of its first arrival. */
function firstSeen(arrivals: readonly Arrival[]): Seen[] {
  const seen = new Map<number, string>();
  for (const { events } of arrivals) {
    for (const { number, key } of events) if (!seen.has(number)) seen.set(number, key);
  }
  return [...seen].map(([number, key]) => ({ number, key }));
}

/** Versions that first arrived after a later one of the same resource. */
function inversions(keys: readonly string[]): string[] {
  const latest = new Map<string, number>();
  return keys.filter((key) => {
    const cut = key.lastIndexOf('/');
    const [resource, version] = [key.slice(0, cut), Number(key.slice(cut + 1))];
    const isInverted = version < (latest.get(resource) ?? 0);
    latest.set(resource, version);
    return isInverted;
  });
}

/** Faults of the event numbers: they must begin at 1, have no gaps, and identify one event each. */
function numberFaults(first: readonly Seen[], arrivals: readonly Arrival[]): string[] {
  const gaps = first
    .filter(({ number }, index) => number !== index + 1)
    .map(({ number }) => `number ${number} out of line`);
  const keys = new Set(first.map(({ key }) => key));
  return [
    ...gaps,
    ...reusedNumbers(first, arrivals),
    ...(keys.size === first.length ? [] : ['one event under two numbers']),
  ];
}

function reusedNumbers(first: readonly Seen[], arrivals: readonly Arrival[]): string[] {
  const meaning = new Map(first.map(({ number, key }) => [number, key]));
  return arrivals.flatMap(({ events }) =>
    events.filter(({ number, key }) => meaning.get(number) !== key).map(({ number }) => `number ${number} used twice`),
  );
}

/**
 * Batches that arrived with different bytes. A batch is identified by its first number: its id is derived from the
 * body, so it could not reveal other bytes.
 */
function otherBytes(arrivals: readonly Arrival[]): string[] {
  const hashes = new Map<string, string>();
  return arrivals.flatMap(({ destination, bodyHash, events }) => {
    const batch = `${destination}: batch that begins with ${events[0]?.number ?? 0}`;
    const known = hashes.get(batch) ?? bodyHash;
    hashes.set(batch, known);
    return known === bodyHash ? [] : [batch];
  });
}
