import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { ProgressBar } from '../progress-bar';
import { LoadClient } from './load-client';
import { type Measured, type Round, measuredOf } from './measured';
import { LIVE_TYPE, QUEUE_COUNT, queueId } from './prepare-server';
import { ROUNDS } from './run-case';
import { type OwnContender, type TestBed } from './test-bed';
import { type WebhookReceiver } from './webhook-receiver';
import { CHARTS } from './bench-data';

/** The number of events in a queue: fewer than the observations that the creates of the bench have stored. */
const EVENTS_PER_QUEUE = 2000;
const LIVE_EVENTS = 100;
const DEADLINE_SECONDS = 120;
const POLL_MILLISECONDS = 5;

const FILL = `insert into outbox_event (destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
  select destination_key, length(body), version, type, id, 'create', 'POST'
  from destination_runtime cross join (select * from resource where type = 'Observation' order by resource_key limit $2) r
  where destination_id = any($1) order by destination_key, resource_key`;

/**
 * Fills queues and measures their drain, from the first to the last arrival. Then, on the server alone, measures the
 * time from the request that causes an event to its arrival.
 */
export async function runDelivery({ server, baseline, receiver }: TestBed): Promise<Measured[]> {
  const deliverOfBaseline = async (): Promise<void> => {
    const { baseUrl, authorization } = baseline;
    const url = new URL('/deliver', baseUrl);
    await fetch(url, { method: 'POST', headers: { Authorization: authorization }, body: receiver.url });
  };
  // The server polls its queues itself; the baseline needs a call to begin.
  const begin = new Map([[baseline, deliverOfBaseline]]);
  const contenders = [server, baseline];
  const rounds: Round[][] = contenders.map(() => []);
  const progress = new ProgressBar({
    label: 'deliver'.padEnd(20),
    total: contenders.length * (ROUNDS + 1) + LIVE_EVENTS,
  });
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, contender] of contenders.entries()) {
      const result = await drain(contender, receiver, begin.get(contender));
      if (round > 0) rounds[index]?.push(result);
      progress.advance();
    }
  }
  const latencies = await timeSingleEvents(server, receiver, () => {
    progress.advance();
  });
  return rounds.map((drained, index) =>
    measuredOf(drained.map((round) => ({ ...round, latencies: contenders[index] === server ? latencies : [] }))),
  );
}

async function drain(
  { databaseUrl, meter }: OwnContender,
  receiver: WebhookReceiver,
  begin: (() => Promise<void>) | undefined,
): Promise<Round> {
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    const ids = Array.from({ length: QUEUE_COUNT }, (_, index) => queueId(index + 1));
    await database.query('begin');
    const { rowCount } = await database.query(FILL, [ids, EVENTS_PER_QUEUE]);
    const operations = rowCount ?? 0;
    const { result, cpu } = await meter.measure(async () => {
      const arrival = receiver.expect(operations, DEADLINE_SECONDS);
      await database.query('commit');
      await Promise.all([arrival, begin?.()]);
      while (!(await isEmpty(database))) await pause(POLL_MILLISECONDS);
      return arrival;
    });
    return {
      operations,
      seconds: (result.lastAt - result.firstAt) / 1000,
      cpu,
      latencies: [],
      answerBytes: undefined,
      errors: 0,
    };
  } finally {
    await database.end();
  }
}

/** Whether all events are settled. The last batch arrives shortly before it is settled. */
async function isEmpty(database: Client): Promise<boolean> {
  return (await database.query('select from outbox_event limit 1')).rowCount === 0;
}

async function timeSingleEvents(
  server: OwnContender,
  receiver: WebhookReceiver,
  onArrival: () => void,
): Promise<number[]> {
  const client = new LoadClient(server);
  const subject = { reference: `Patient/${CHARTS[0]?.patientId ?? ''}` };
  const body = JSON.stringify({ resourceType: LIVE_TYPE, status: 'active', code: { text: 'bench' }, subject });
  const latencies: number[] = [];
  try {
    for (let count = 0; count < LIVE_EVENTS; count++) {
      const arrival = receiver.expect(1, DEADLINE_SECONDS);
      const sentAt = performance.now();
      const { status } = await client.send({ method: 'POST', path: `/${LIVE_TYPE}`, body });
      if (status !== 201) throw new Error(`POST ${LIVE_TYPE} was answered with ${status}`);
      latencies.push((await arrival).lastAt - sentAt);
      onArrival();
    }
  } finally {
    client.close();
  }
  return latencies;
}
