import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { MetricsReader, MetricsServer } from '../../../src/platform/metrics/metrics-server';
import { countsOf, delivered, destination, newDestination, newTopic } from '../../support/destinations';
import { metricsUrlOf, type Scrape, scrapeOf } from '../../support/scrape';
import { eventually } from '../../../testing/eventually';
import { startTestApp, type TestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

const CANARY = 'Zacharias-Canary';

let app: TestApp;
let metricsUrl: string;
let well: WebhookReceiver;
let failing: WebhookReceiver;
let late: WebhookReceiver;

beforeAll(async () => {
  app = await startTestApp({
    environment: { SVC_METRICS_PORT: '0', SVC_DELIVERY_POLL_MILLISECONDS: '100', SVC_SHUTDOWN_SECONDS: '1' },
  });
  metricsUrl = metricsUrlOf(app);
  [well, failing, late] = await Promise.all([
    WebhookReceiver.start(),
    WebhookReceiver.start(),
    WebhookReceiver.start(),
  ]);
});
afterAll(async () => {
  await app.close();
  await Promise.all([well.stop(), failing.stop(), late.stop()]);
});

const scrape = (path?: string, url = metricsUrl): Promise<Scrape> => scrapeOf(url, path);

/** The metrics of a destination, by their names in `$status`. */
function statusIn(scraped: Scrape, id: string): Readonly<Record<string, number | undefined>> {
  const valueOf = (name: string): number | undefined =>
    scraped.value(`svc_topic_destination_${name}{destination="${id}"}`);
  return {
    messageBatchesDelivered: valueOf('batches_delivered_total'),
    messageBatchesDeliveryAttempts: valueOf('batches_failed_total'),
    messagesDelivered: valueOf('messages_delivered_total'),
    messagesDeliveryAttempts: valueOf('messages_failed_total'),
    messagesInProcess: valueOf('messages_in_process'),
    messagesQueued: valueOf('messages_queued'),
  };
}

describe('the metrics of destinations', () => {
  let good: string;
  let bad: string;
  let topic: string;

  beforeAll(async () => {
    failing.always({ kind: 'answer', status: 503, body: CANARY });
    topic = await newTopic(app, { resource: 'Patient', fhirPathCriteria: `name.family != '${CANARY}-not'` });
    good = await newDestination(app, destination(topic, {}, `${well.url}?key=${CANARY}`));
    bad = await newDestination(
      app,
      destination(topic, {
        parameter: [
          { name: 'endpoint', valueUrl: `${failing.url}?key=${CANARY}` },
          { name: 'maxMessagesInBatch', valueUnsignedInt: 2 },
        ],
      }),
    );
    for (let patient = 0; patient < 5; patient++) {
      await app.put(`/fhir/Patient/${CANARY}-${patient}`, { name: [{ family: CANARY }] });
    }
    await delivered(app, good, 5);
    await eventually(
      'an attempt failed twice',
      async () => ((await countsOf(app, bad)).messageBatchesDeliveryAttempts ?? 0) >= 2,
    );
    failing.always({ kind: 'hang' });
    await eventually('an attempt hangs', () => failing.open === 1);
  });

  it('equal $status, for a healthy and a failing destination', async () => {
    const scraped = await scrape();
    expect(statusIn(scraped, good)).toEqual(await countsOf(app, good));
    expect(statusIn(scraped, bad)).toEqual(await countsOf(app, bad));
    expect(statusIn(scraped, good)).toMatchObject({ messagesDelivered: 5, messagesInProcess: 0, messagesQueued: 0 });
    expect((statusIn(scraped, bad).messagesInProcess ?? 0) + (statusIn(scraped, bad).messagesQueued ?? 0)).toBe(5);
    expect(statusIn(scraped, bad)).toMatchObject({ messagesDelivered: 0 });
  });

  it('include the age of the oldest event, and the consecutive failures', async () => {
    const scraped = await scrape();
    const ages = [good, bad].map((id) =>
      scraped.value(`svc_topic_destination_oldest_message_age_seconds{destination="${id}"}`),
    );
    expect([ages[0], (ages[1] ?? 0) > 0]).toEqual([0, true]);
    expect(scraped.value(`svc_topic_destination_failures_in_a_row{destination="${good}"}`)).toBe(0);
    expect(scraped.value(`svc_topic_destination_failures_in_a_row{destination="${bad}"}`)).toBeGreaterThanOrEqual(2);
    expect(scraped.value('svc_topic_destinations')).toBe(2);
    expect(scraped.value('svc_topic_destinations_omitted')).toBe(0);
  });

  it('count each delivered event once, in the bucket of its time and all larger ones', async () => {
    const scraped = await scrape();
    const buckets = scraped
      .samplesOf('svc_topic_destination_delivery_seconds_bucket')
      .filter(([sample]) => sample.includes(`"${good}"`))
      .map(([, value]) => value);
    expect(buckets).toHaveLength(12);
    expect(buckets).toEqual(buckets.toSorted((left, right) => left - right));
    expect([buckets.at(-1), buckets.at(-2)]).toEqual([5, 5]);
    const of = `{destination="${good}"}`;
    expect(scraped.value(`svc_topic_destination_delivery_seconds_count${of}`)).toBe(5);
    expect(scraped.value(`svc_topic_destination_delivery_seconds_sum${of}`)).toBeGreaterThan(0);
    expect(scraped.value(`svc_topic_destination_delivery_seconds_count{destination="${bad}"}`)).toBe(0);
  });

  it('count an event that waited long in the right bucket', async () => {
    late.always({ kind: 'answer', status: 503 });
    const id = await newDestination(app, destination(topic, {}, late.url));
    await app.put('/fhir/Patient/late', { name: [{ family: 'Late' }] });
    await eventually('the batch is open', async () => ((await countsOf(app, id)).messagesInProcess ?? 0) === 1);
    await app.app.get(DataSource).query(
      `update open_batch set recorded_at = array[recorded_at[1] - interval '100 s']
       where destination_key = (select destination_key from destination_runtime where destination_id = $1)`,
      [id],
    );
    late.always({ kind: 'answer', status: 200 });
    await delivered(app, id, 1);
    const scraped = await scrape();
    const bucket = (le: string): number | undefined =>
      scraped.value(`svc_topic_destination_delivery_seconds_bucket{destination="${id}",le="${le}"}`);
    expect([bucket('30'), bucket('300'), bucket('+Inf')]).toEqual([0, 1, 1]);
    expect(scraped.value(`svc_topic_destination_delivery_seconds_sum{destination="${id}"}`)).toBeGreaterThan(100);
    await app.delete(`/fhir/SvcTopicDestination/${id}`);
    expect((await scrape()).text).not.toContain(`"${id}"`);
  });

  it('are the same on another replica', async () => {
    const other = await startTestApp({ databaseUrl: app.databaseUrl, environment: { SVC_METRICS_PORT: '0' } });
    try {
      const [here, there] = [await scrape(), await scrape('/metrics', metricsUrlOf(other))];
      expect(statusIn(there, good)).toEqual(statusIn(here, good));
      expect(
        there.samplesOf('svc_topic_destination_delivery_seconds_bucket').filter(([sample]) => sample.includes(good)),
      ).toEqual(
        here.samplesOf('svc_topic_destination_delivery_seconds_bucket').filter(([sample]) => sample.includes(good)),
      );
    } finally {
      await other.close();
    }
  });

  it('contain nothing of a patient, no endpoint and no topic', async () => {
    for (const path of ['/metrics', '/metrics/minutes', '/metrics/hours']) {
      const { text } = await scrape(path);
      for (const secret of [CANARY, 'http:', 'topics.example', 'hook'])
        expect([path, text]).toEqual([path, expect.not.stringContaining(secret)]);
    }
  });

  it('are limited to 1,000 destinations, with the number of others', async () => {
    const database = app.app.get(DataSource);
    await database.query(`insert into destination_runtime
        (destination_id, max_messages_in_batch, timeout_seconds, kind, presentation, sealed_settings)
      select 'many-' || n, 1, 1, 'webhook-at-least-once', '', '' from generate_series(1, 1001) n`);
    const scraped = await scrape();
    await database.query(`delete from destination_runtime where destination_id like 'many-%'`);
    expect(scraped.samplesOf('svc_topic_destination_messages_queued')).toHaveLength(1_000);
    expect(scraped.value('svc_topic_destinations')).toBe(1_003);
    expect(scraped.value('svc_topic_destinations_omitted')).toBe(3);
  });
});

describe('a read of /metrics', () => {
  it('returns figures of the process, its connections and its responses', async () => {
    const before = await scrape();
    await app.get('/fhir/Patient/nobody');
    await eventually(
      'the answer is counted',
      async () =>
        ((await scrape()).value('svc_http_answers_total{status="4xx"}') ?? 0) ===
        (before.value('svc_http_answers_total{status="4xx"}') ?? 0) + 1,
    );
    expect(before.value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(before.value('svc_event_loop_delay_seconds{quantile="0.99"}')).toBeGreaterThanOrEqual(0);
    expect(before.value('svc_database_pool_size')).toBe(8);
    expect(before.value('svc_database_pool_waiting')).toBe(0);
    expect(
      (await scrape('/metrics/minutes')).value('svc_table_rows{table="destination_runtime",state="dead"}'),
    ).toBeGreaterThanOrEqual(0);
    expect((await scrape('/metrics/hours')).value('svc_table_size_bytes{table="delivery_attempt"}')).toBeGreaterThan(0);
  });

  it('runs once for all concurrent requests', async () => {
    const read = jest.spyOn(app.app.get(MetricsReader, { strict: false }), 'read');
    const texts = await whileLocked(
      () => Promise.all(Array.from({ length: 20 }, async () => (await scrape()).text)),
      eventually('all have asked', () => read.mock.calls.length === 20),
    );
    read.mockRestore();
    expect(new Set(texts).size).toBe(1);
  });

  it('reports that the queues could not be counted in time, and returns the rest', async () => {
    const scraped = await whileLocked(() => scrape());
    expect(scraped.value('svc_metrics_source_up{source="destinations"}')).toBe(0);
    expect(scraped.value('svc_metrics_source_up{source="process"}')).toBe(1);
    expect(scraped.types.has('svc_topic_destination_messages_queued')).toBe(false);
    expect((await scrape()).value('svc_metrics_source_up{source="destinations"}')).toBe(1);
  });
});

describe('the port of the metrics', () => {
  it('serves nothing else, and only GET', async () => {
    const statuses = await Promise.all(
      ['/', '/fhir/Patient', '/metrics/', '/health'].map(async (path) => (await fetch(metricsUrl + path)).status),
    );
    expect(statuses).toEqual([200, 404, 404, 404]);
    expect(await (await fetch(`${metricsUrl}/`)).text()).toContain('/metrics');
    const refused = await fetch(`${metricsUrl}/metrics`, { method: 'POST', body: '{}' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is closed by default, and the main port serves no metrics', async () => {
    const other = await startTestApp({ databaseUrl: app.databaseUrl });
    try {
      expect(other.app.get(MetricsServer, { strict: false }).port).toBeUndefined();
    } finally {
      await other.close();
    }
    const answers = await Promise.all([app.get('/metrics'), app.get('/metrics', { authorization: null })]);
    expect(answers.map(({ status }) => status)).toEqual([404, 401]);
  });

  it('stops the start when it is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    await expect(
      startTestApp({ databaseUrl: app.databaseUrl, environment: { SVC_METRICS_PORT: String(port) } }),
    ).rejects.toThrow(/SVC_METRICS_PORT.*EADDRINUSE/);
    await new Promise((resolve) => taken.close(resolve));
  });
});

/** Blocks the count of the queues until the work is done, or until `over` resolves. */
async function whileLocked<T>(work: () => Promise<T>, over?: Promise<unknown>): Promise<T> {
  const runner = app.app.get(DataSource).createQueryRunner();
  await runner.startTransaction();
  await runner.query('lock table destination_runtime in access exclusive mode');
  const working = work();
  await (over ?? working);
  await runner.rollbackTransaction();
  await runner.release();
  return working;
}
