import { Client } from 'pg';
import { ProgressBar } from '../../progress-bar';
import { type Cleanup } from '../cleanup';
import { chosen } from '../suite';
import { compareWithDead } from './dead-destinations';
import { type DeliveryBed, ONE, setUpDeliveryBed } from './delivery-bed';
import { deadReportOf, drainReportOf, takeoverReportOf, timesReportOf } from './delivery-report';
import { type DrainWindow, drainQueues } from './drain-queues';
import { measureIsolation } from './isolation';
import { arrivalTimes, writeAtPace } from './paced-writes';
import { measureTakeover } from './takeover';

const PER_SECOND = 10;
const SECONDS = 60;

const SMALL_BACKLOG = 10_000;
const LARGE_BACKLOG = 1_000_000;
const SMALL_ROUNDS = 5;
const LARGE_WINDOWS = 20;

const HELD_BACKLOG = 100_000;
const HELD_WINDOWS = 10;

/** The parts of the suite, each of which can run alone. They run in this order, since the last one kills the server. */
const PARTS: readonly Part[] = [
  { name: 'latency', measure: measureLatency },
  { name: 'drain', measure: measureDrain },
  { name: 'backlog', measure: measureBacklog },
  { name: 'snapshot', measure: measureBesideSnapshot },
  { name: 'dead', measure: async (bed, cleanup) => deadReportOf(await compareWithDead(bed, cleanup)) },
  { name: 'isolation', measure: measureIsolation },
  { name: 'takeover', measure: async (bed, cleanup) => takeoverReportOf(await measureTakeover(bed, cleanup)) },
];

interface Part {
  readonly name: string;
  readonly measure: (bed: DeliveryBed, cleanup: Cleanup) => Promise<string>;
}

/**
 * Measures delivery alone (docs/performance.md, "Delivery").
 * @param only the part to run; by default all
 * @throws Error when there is no such part
 */
export async function measureDelivery(only: string | undefined, cleanup: Cleanup): Promise<string> {
  const parts = chosen(PARTS, only);
  const bed = await setUpDeliveryBed(cleanup);
  const reports: string[] = [];
  for (const { measure } of parts) reports.push(await measure(bed, cleanup));
  return reports.join('\n\n');
}

async function measureLatency(bed: DeliveryBed): Promise<string> {
  const progress = new ProgressBar({ label: 'commit to arrival'.padEnd(20), total: PER_SECOND * SECONDS });
  const pace = { types: [ONE.type], perSecond: PER_SECOND, seconds: SECONDS };
  const writes = await writeAtPace(bed, pace, () => {
    progress.advance();
  });
  return timesReportOf(`${PER_SECOND} writes a second`, await arrivalTimes(bed, writes, ONE));
}

/**
 * Measures small backlogs. The first drain is a warm-up and not counted: it compiles code, plans statements and fills
 * caches.
 */
async function measureDrain(bed: DeliveryBed): Promise<string> {
  const rounds = [];
  for (let round = 0; round <= SMALL_ROUNDS; round++) rounds.push(...(await drainQueues(bed, SMALL_BACKLOG, 1)));
  return drainReportOf(
    rounds.slice(1).map((drained, index) => ({ name: `${SMALL_BACKLOG}, round ${index + 1}`, drained })),
  );
}

/**
 * Measures a drain during a long read transaction, like that of pg_dump. Rows that are deleted meanwhile stay in the
 * table until the transaction ends.
 */
async function measureBesideSnapshot(bed: DeliveryBed): Promise<string> {
  await drainQueues(bed, SMALL_BACKLOG, 1);
  const reader = new Client({ connectionString: bed.databaseUrl });
  await reader.connect();
  try {
    await reader.query('begin isolation level repeatable read');
    await reader.query('select from outbox_event limit 1');
    const windows = await drainQueues(bed, HELD_BACKLOG, HELD_WINDOWS);
    return drainReportOf(partsOf(`${HELD_BACKLOG} beside a snapshot`, windows));
  } finally {
    await reader.end();
  }
}

const partsOf = (name: string, windows: readonly DrainWindow[]) =>
  windows.map((drained, index) => ({
    name: `${name}, to ${((100 * (index + 1)) / windows.length).toFixed(0)} %`,
    drained,
  }));

/** Measures a large backlog between two small ones, since the load of the machine may change meanwhile. */
async function measureBacklog(bed: DeliveryBed): Promise<string> {
  const small = async (name: string) => ({ name, drained: (await drainQueues(bed, SMALL_BACKLOG, 1))[0] });
  await small('not counted');
  const before = await small(`${SMALL_BACKLOG} before`);
  const windows = await drainQueues(bed, LARGE_BACKLOG, LARGE_WINDOWS);
  const after = await small(`${SMALL_BACKLOG} after`);
  return drainReportOf([before, ...partsOf(String(LARGE_BACKLOG), windows), after]);
}
