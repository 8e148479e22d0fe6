import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { LoadClient } from '../load-client';
import { type Target } from '../bench-case';
import { type DeliveryBed } from './delivery-bed';

/** A created resource; times are milliseconds of `performance.now()`. */
export interface PacedWrite {
  readonly type: string;
  readonly id: string;
  readonly answeredAt: number;
}

export interface Pace {
  /** The types of the written resources, in rotation. */
  readonly types: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

/** The number of the last id, so that no id is written twice. */
let written = 0;

/** Creates resources at an even pace, even while the previous request is not answered yet. */
export async function writeAtPace(target: Target, pace: Pace, onWrite: () => void): Promise<PacedWrite[]> {
  const { types, perSecond, seconds } = pace;
  const client = new LoadClient(target);
  const writes: Promise<PacedWrite>[] = [];
  const startedAt = performance.now();
  try {
    while (writes.length < perSecond * seconds) {
      const type = types[writes.length % types.length] ?? '';
      await delay(Math.max(0, startedAt + (writes.length * 1000) / perSecond - performance.now()));
      writes.push(create(client, type, `bench-${++written}`).finally(onWrite));
    }
    return await Promise.all(writes);
  } finally {
    client.close();
  }
}

async function create(client: LoadClient, type: string, id: string): Promise<PacedWrite> {
  const subject = { display: 'bench' };
  const body = JSON.stringify({
    resourceType: type,
    id,
    status: 'completed',
    subject,
    note: [{ text: 'x'.repeat(500) }],
  });
  const { status } = await client.send({ method: 'PUT', path: `/${type}/${id}`, body });
  if (status !== 201) throw new Error(`PUT ${type}/${id} was answered with ${status}`);
  return { type, id, answeredAt: performance.now() };
}

/** Times of events until their last byte, in milliseconds. */
export interface ArrivalTimes {
  /** From the commit, by the clock of PostgreSQL, to the head of the request that contains the event. */
  readonly headSinceCommit: readonly number[];
  readonly wholeSinceCommit: readonly number[];
  /** From the response to the writer to the last byte; negative if the event arrived before the response. */
  readonly wholeSinceAnswer: readonly number[];
}

const COMMITS = `select id, extract(epoch from pg_xact_commit_timestamp(xmin))::double precision * 1000 as milliseconds
  from resource where type = $1`;

/** @throws Error when an event did not arrive within half a minute of its write. */
export async function arrivalTimes(
  { arrivals, databaseUrl }: DeliveryBed,
  writes: readonly PacedWrite[],
  { type, ids }: { readonly type: string; readonly ids: readonly string[] },
): Promise<ArrivalTimes> {
  const commits = await commitsOf(databaseUrl, type);
  const times = { headSinceCommit: [] as number[], wholeSinceCommit: [] as number[], wholeSinceAnswer: [] as number[] };
  for (const write of writes.filter((one) => one.type === type)) {
    const committedAt = (commits.get(write.id) ?? Number.NaN) - performance.timeOrigin;
    for (const destinationId of ids) {
      const { headAt, wholeAt } = await arrivalOf(arrivals, destinationId, `${type}/${write.id}`);
      times.headSinceCommit.push(headAt - committedAt);
      times.wholeSinceCommit.push(wholeAt - committedAt);
      times.wholeSinceAnswer.push(wholeAt - write.answeredAt);
    }
  }
  return times;
}

const PATIENCE_SECONDS = 30;
const POLL_MILLISECONDS = 50;

async function arrivalOf(arrivals: DeliveryBed['arrivals'], destinationId: string, reference: string) {
  const startedAt = performance.now();
  for (;;) {
    const arrival = arrivals.arrivalAt(destinationId, reference);
    if (arrival !== undefined) return arrival;
    if (performance.now() - startedAt > PATIENCE_SECONDS * 1000)
      throw new Error(`${reference} did not reach the destination ${destinationId}`);
    await delay(POLL_MILLISECONDS);
  }
}

async function commitsOf(databaseUrl: string, type: string): Promise<ReadonlyMap<string, number>> {
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query<{ id: string; milliseconds: number }>(COMMITS, [type]);
    return new Map(rows.map(({ id, milliseconds }) => [id, milliseconds]));
  } finally {
    await database.end();
  }
}
