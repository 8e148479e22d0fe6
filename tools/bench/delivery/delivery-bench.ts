import { ProgressBar } from '../../progress-bar';
import { type Cleanup } from '../cleanup';
import { compareWithDead } from './dead-destinations';
import { type DeliveryBed, ONE, setUpDeliveryBed } from './delivery-bed';
import { deadReportOf, drainReportOf, timesReportOf } from './delivery-report';
import { drainQueues } from './drain-queues';
import { arrivalTimes, writeAtPace } from './paced-writes';

const PER_SECOND = 10;
const SECONDS = 60;

const SMALL_BACKLOG = 10_000;
const LARGE_BACKLOG = 1_000_000;
const SMALL_ROUNDS = 5;
const LARGE_WINDOWS = 20;

/** What can be measured by itself, in this order. */
const PARTS: Readonly<Record<string, (bed: DeliveryBed, cleanup: Cleanup) => Promise<string>>> = {
  latency: measureLatency,
  drain: measureDrain,
  backlog: measureBacklog,
  dead: async (bed, cleanup) => deadReportOf(await compareWithDead(bed, cleanup)),
};

/**
 * Measures delivery by itself (docs/performance.md, "Delivery").
 * @param only the part that is wanted; all without it
 * @throws Error when there is no such part
 */
export async function measureDelivery(only: string | undefined, cleanup: Cleanup): Promise<string> {
  const parts = Object.entries(PARTS).filter(([name]) => only === undefined || name === only);
  if (parts.length === 0) throw new Error(`--only takes one of ${Object.keys(PARTS).join(', ')}.`);
  const bed = await setUpDeliveryBed(cleanup);
  const reports: string[] = [];
  for (const [, measure] of parts) reports.push(await measure(bed, cleanup));
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

/** A first drain is not counted: it compiles code, plans statements and fills caches. */
async function measureDrain(bed: DeliveryBed): Promise<string> {
  const rounds = [];
  for (let round = 0; round <= SMALL_ROUNDS; round++) rounds.push(...(await drainQueues(bed, SMALL_BACKLOG, 1)));
  return drainReportOf(
    rounds.slice(1).map((drained, index) => ({ name: `${SMALL_BACKLOG}, round ${index + 1}`, drained })),
  );
}

/** Between two small backlogs, as the machine may change in the meantime. */
async function measureBacklog(bed: DeliveryBed): Promise<string> {
  const small = async (name: string) => ({ name, drained: (await drainQueues(bed, SMALL_BACKLOG, 1))[0] });
  await small('not counted');
  const before = await small(`${SMALL_BACKLOG} before`);
  const windows = await drainQueues(bed, LARGE_BACKLOG, LARGE_WINDOWS);
  const after = await small(`${SMALL_BACKLOG} after`);
  const large = windows.map((drained, index) => {
    const percent = (100 / LARGE_WINDOWS) * (index + 1);
    return { name: `${LARGE_BACKLOG}, to ${percent.toFixed(0)} %`, drained };
  });
  return drainReportOf([before, ...large, after]);
}
