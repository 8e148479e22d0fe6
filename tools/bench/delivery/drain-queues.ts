import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { ProgressBar } from '../../progress-bar';
import { type CpuShare } from '../cpu-meter';
import { QUEUE_COUNT, queueId } from '../prepare-server';
import { type DeliveryBed } from './delivery-bed';

/** A window: one of the parts with equal numbers of events in which the drain of the queues is measured. */
export interface DrainWindow {
  readonly events: number;
  readonly seconds: number;
  readonly cpu: CpuShare | undefined;
}

/** The longest wait, enough for a machine that is ten times slower. */
const DEADLINE_SECONDS = 1800;
const POLL_MILLISECONDS = 5;

/** The SQL that queues events of Observations, in rotation over the queues, as a topic would have recorded them. */
const FILL = `insert into outbox_event (destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
  select r.destination_key, length(o.body), o.version, o.type, o.id, 'create', 'POST'
  from generate_series(0, $2::integer - 1) n
    join (select row_number() over (order by resource_key) - 1 as place, count(*) over () as total, * from resource
      where type = 'Observation') o on o.place = n % o.total
    cross join destination_runtime r
  where r.destination_id = any($1) order by n, r.destination_key`;

/** Fills the queues with `events`, and measures equal windows from the front of the queues to their ends. */
export async function drainQueues(bed: DeliveryBed, events: number, windows: number): Promise<DrainWindow[]> {
  const { counter, databaseUrl, meter } = bed;
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    const before = counter.seen;
    await database.query('begin');
    const ids = Array.from({ length: QUEUE_COUNT }, (_, index) => queueId(index + 1));
    await database.query(FILL, [ids, Math.ceil(events / QUEUE_COUNT)]);
    const progress = new ProgressBar({ label: `drain ${events}`.padEnd(20), total: windows });
    const measured: DrainWindow[] = [];
    for (let window = 1; window <= windows; window++) {
      const seenBefore = counter.seen;
      const { result, cpu } = await meter.measure(async () => {
        const startedAt = performance.now();
        const arrival = counter.reach(before + Math.round((events * window) / windows), DEADLINE_SECONDS);
        if (window === 1) await database.query('commit');
        await arrival;
        while (window === windows && !(await isSettled(database))) await delay(POLL_MILLISECONDS);
        return { events: counter.seen - seenBefore, seconds: (performance.now() - startedAt) / 1000 };
      });
      measured.push({ ...result, cpu });
      progress.advance();
    }
    return measured;
  } finally {
    await database.end();
  }
}

/** Whether no batch is open. The last batch arrives shortly before it is settled, so its arrival is not the end. */
async function isSettled(database: Client): Promise<boolean> {
  return (await database.query('select from open_batch limit 1')).rowCount === 0;
}
