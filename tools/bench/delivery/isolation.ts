import { setTimeout as delay } from 'node:timers/promises';
import { textTable } from '../../demo/text-table';
import { ProgressBar } from '../../progress-bar';
import { type Cleanup } from '../cleanup';
import { runQuery } from '../own-database';
import { destination, topic } from '../prepare-server';
import { quantile } from '../statistics';
import { EMPTY, FILL } from './dead-destinations';
import { type DeliveryBed, ONE, topicOf } from './delivery-bed';
import { HANGING_WAYS, HangingReceivers } from './hanging-receivers';
import { type PacedWrite, arrivalTimes, writeAtPace } from './paced-writes';

/**
 * The types of the written resources. Events of FIRST go to new destinations. Events of RETRIED go to a destination
 * whose receiver refuses each event at the first attempt.
 */
const FIRST = 'ClinicalImpression';
const RETRIED = { type: 'Procedure', ids: ['refused-once'] } as const;

const HANGING = 1000;
const TURNS = 3;
/**
 * The duration of a turn, longer than the timeout of hanging attempts. Those begin within about 12 s, so about half of
 * them time out in a turn.
 */
const SECONDS = 35;
const PER_SECOND = 20;
/**
 * The number of new destinations in each half of a turn: alone, and beside those that hang. The three turns give 300
 * first attempts for each half, so only three values are larger than the p99.
 */
const NEW_DESTINATIONS = 100;
const PATIENCE_SECONDS = 120;

type Times = Readonly<Record<'first attempt' | 'retry after one failure' | 'all events', readonly number[]>>;

/** Measures healthy destinations in turns: alone, then beside many that hang in every way. */
export async function measureIsolation(bed: DeliveryBed, cleanup: Cleanup): Promise<string> {
  const receivers = await cleanup.undoing(HangingReceivers.start(), (started) => started.stop());
  for (const type of [FIRST, RETRIED.type]) await bed.put(`SvcSubscriptionTopic/${type}`, topic(topicOf(type), type));
  const [refusedOnce] = RETRIED.ids;
  const endpoint = bed.arrivals.urlOf(refusedOnce);
  await bed.put(`SvcTopicDestination/${refusedOnce}`, destination(topicOf(RETRIED.type), endpoint));
  bed.arrivals.refuseEachOnce(refusedOnce);
  for (let index = 0; index < HANGING; index++) {
    const way = HANGING_WAYS[index % HANGING_WAYS.length] ?? 'reads nothing';
    const url = receivers.urlOf(way, `dead-${index}`);
    await bed.put(`SvcTopicDestination/dead-${index}`, destination(topicOf('Basic'), url));
  }
  const total = (TURNS * 2 + 1) * ((PER_SECOND + 1) * SECONDS + NEW_DESTINATIONS);
  const progress = new ProgressBar({ label: `${HANGING} that hang`.padEnd(20), total });
  const onWrite = (): void => {
    progress.advance();
  };
  const turns: { readonly alone: Times; readonly beside: Times }[] = [];
  let mostOpen = 0;
  await timesOf(bed, onWrite);
  for (let turn = 0; turn < TURNS; turn++) {
    const alone = await timesOf(bed, onWrite);
    await runQuery(bed.databaseUrl, FILL);
    const beside = await timesOf(bed, onWrite);
    mostOpen = Math.max(mostOpen, receivers.open());
    await runQuery(bed.databaseUrl, EMPTY);
    turns.push({ alone, beside });
    await nobodyHangs(receivers);
  }
  return reportOf(turns, mostOpen);
}

let newOnes = 0;

async function timesOf(bed: DeliveryBed, onWrite: () => void): Promise<Times> {
  const ids = Array.from({ length: NEW_DESTINATIONS }, () => `first-${++newOnes}`);
  const write = (type: string, perSecond: number, seconds: number): Promise<PacedWrite[]> =>
    writeAtPace(bed, { types: [type], perSecond, seconds }, onWrite);
  const writing = Promise.all([write(ONE.type, PER_SECOND, SECONDS), write(RETRIED.type, 1, SECONDS)]);
  const first: number[] = [];
  const startedAt = performance.now();
  for (const [index, id] of ids.entries()) {
    await delay(Math.max(0, startedAt + (index * SECONDS * 1000) / NEW_DESTINATIONS - performance.now()));
    await bed.put(`SvcTopicDestination/${id}`, destination(topicOf(FIRST), bed.arrivals.urlOf(id)));
    const written = await write(FIRST, 1, 1);
    first.push(...(await arrivalTimes(bed, written, { type: FIRST, ids: [id] })).wholeSinceCommit);
    // Each further write of the type would also go to this destination, so later turns would send more.
    await bed.remove(`SvcTopicDestination/${id}`);
  }
  const [steady, retried] = await writing;
  return {
    'first attempt': first,
    'retry after one failure': (await arrivalTimes(bed, retried, RETRIED)).wholeSinceCommit,
    'all events': (await arrivalTimes(bed, steady, ONE)).wholeSinceCommit,
  };
}

async function nobodyHangs(receivers: HangingReceivers): Promise<void> {
  const startedAt = performance.now();
  while (!receivers.areLeft()) {
    if (performance.now() - startedAt > PATIENCE_SECONDS * 1000) throw new Error('Attempts hang beyond their timeout');
    await delay(100);
  }
}

const HEADINGS = ['ms', 'events', 'p50 alone', 'beside', 'ratio', 'p99 alone', 'beside', 'ratio'];

function reportOf(turns: readonly { readonly alone: Times; readonly beside: Times }[], mostOpen: number): string {
  const rows = (['first attempt', 'retry after one failure', 'all events'] as const).map((name) => {
    const [alone, beside] = [turns.flatMap((turn) => turn.alone[name]), turns.flatMap((turn) => turn.beside[name])];
    const figures = [0.5, 0.99].flatMap((share) => {
      const [one, other] = [quantile(alone, share), quantile(beside, share)];
      return [one.toFixed(1), other.toFixed(1), (other / one).toFixed(2)];
    });
    return [name, String(beside.length), ...figures].map((text, index) =>
      index === 0 ? text : text.padStart(HEADINGS[index]?.length ?? 0),
    );
  });
  return [textTable(HEADINGS, rows), `${mostOpen} of ${HANGING} connections hung at the end of a turn`].join('\n');
}
