import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { READ_STATUS } from '../../../src/delivery/destination-statements';
import { MOST_COUNTED } from '../../../src/delivery/destinations';
import { eventually } from '../../../testing/eventually';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';
import { login } from '../../../testing/world';
import { countsOf, delivered, destination, newTopic } from '../../support/destinations';

interface Part {
  readonly name: string;
  readonly part?: readonly Part[];
  readonly [value: string]: unknown;
}

const PATH = '/fhir/SvcTopicDestination/$overview';
const HOUR = 3_600_000;

describe('U5: SvcTopicDestination/$overview', () => {
  let app: TestApp;
  let database: Client;
  let receiver: WebhookReceiver;
  let topic: string;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_SHUTDOWN_SECONDS: '1' } });
    database = await app.connect();
    receiver = await WebhookReceiver.start();
    topic = await newTopic(app);
    await app.put('/fhir/SvcTopicDestination/a-good', destination(topic, {}, receiver.url));
    await app.put('/fhir/SvcTopicDestination/b-failing', destination(topic));
    await app.put('/fhir/SvcTopicDestination/c-quiet', destination('http://topics.example/none'));
    await app.put('/fhir/Patient/p1', { resourceType: 'Patient', active: true });
    await delivered(app, 'a-good', 1);
    await eventually('the other one fails', async () => {
      return ((await countsOf(app, 'b-failing')).messageBatchesDeliveryAttempts ?? 0) > 0;
    });
  });
  afterAll(async () => {
    await receiver.stop();
    await app.close();
  });

  async function overview(path = PATH, authorization?: string): Promise<readonly Part[]> {
    const answer = await app.get(path, authorization === undefined ? {} : { authorization });
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    return answer.json<{ parameter?: Part[] }>().parameter ?? [];
  }
  const valuesOf = ({ part = [] }: Part): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      part.map((one) => [one.name, one.part === undefined ? Object.values(one).at(-1) : valuesOf(one)]),
    );

  it('returns the state of each destination, its queue, and deliveries and failures by hour', async () => {
    const found = (await overview()).map(valuesOf);
    const start = new Date(Math.floor(Date.now() / HOUR) * HOUR).toISOString();
    expect(found).toEqual([
      {
        ...{ id: 'a-good', topic, kind: 'webhook-at-least-once', state: 'active', queued: 0, inProcess: 0 },
        hour: { start, delivered: 1, failed: 0 },
      },
      {
        ...{ id: 'b-failing', topic, kind: 'webhook-at-least-once', state: 'failing', queued: 0, inProcess: 1 },
        oldestAgeSeconds: expect.any(Number),
        failuresInARow: expect.any(Number),
        nextAttempt: expect.any(String),
        lastError: { message: 'Connection refused', timestamp: expect.any(String) },
        hour: { start, delivered: 0, failed: expect.any(Number) },
      },
      expect.objectContaining({ id: 'c-quiet', state: 'active', queued: 0, inProcess: 0 }),
    ]);
    const { failed } = found[1]?.hour as { failed: number };
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThanOrEqual((await countsOf(app, 'b-failing')).messageBatchesDeliveryAttempts ?? 0);
  });

  it('adds to the current hour, begins a new one, and drops those of yesterday', async () => {
    const hour = Math.floor(Date.now() / HOUR);
    await database.query(
      `update destination_runtime set hour_numbers = '{}', hour_delivered = '{}', hour_failed = '{}'
       where destination_id = 'a-good'`,
    );
    const element = (hour % 24) + 1;
    const others = (((hour - 3) % 24) + 24) % 24;
    await database.query(
      `update destination_runtime set hour_numbers[$1] = $2, hour_delivered[$1] = 9, hour_failed[$1] = 9,
       hour_numbers[$3] = $4, hour_delivered[$3] = 5, hour_failed[$3] = 2 where destination_id = 'a-good'`,
      [element, hour - 24, others + 1, hour - 3],
    );
    for (const active of [false, true]) await app.put('/fhir/Patient/p1', { resourceType: 'Patient', active });
    await delivered(app, 'a-good', 3);
    const [good] = await overview();
    const hours = good?.part?.filter(({ name }) => name === 'hour').map(valuesOf);
    expect(hours).toEqual([
      { start: new Date((hour - 3) * HOUR).toISOString(), delivered: 5, failed: 2 },
      { start: new Date(hour * HOUR).toISOString(), delivered: 2, failed: 0 },
    ]);
  });

  it('returns each destination once over all pages', async () => {
    const ids: unknown[] = [];
    let path: string | undefined = `${PATH}?_count=1`;
    while (path !== undefined) {
      const parts: readonly Part[] = await overview(path);
      ids.push(...parts.filter(({ name }) => name === 'destination').map((part) => valuesOf(part).id));
      path = parts.find(({ name }) => name === 'next')?.valueUrl as string | undefined;
    }
    expect(ids).toEqual(['a-good', 'b-failing', 'c-quiet']);
  });

  it('is denied without a policy, and returns only granted destinations', async () => {
    const { bearer } = await login(app, 'watcher', { policies: [] });
    expect((await app.get(PATH, { authorization: bearer })).status).toBe(403);
    const policy = { engine: 'allow', link: [{ resourceType: 'User', id: 'watcher' }] };
    await app.put('/AccessPolicy/watcher', { ...policy, criteria: ['SvcTopicDestination?_id=c-quiet'] });
    expect((await overview(PATH, bearer)).map((part) => valuesOf(part).id)).toEqual(['c-quiet']);
    await app.put('/AccessPolicy/watcher', {
      engine: 'allow',
      link: [{ resourceType: 'Operation', id: 'FhirOverview' }],
    });
    expect(await overview(PATH, bearer)).toHaveLength(3);
  });

  it('filters by id and by state', async () => {
    const idsOf = async (query: string): Promise<unknown[]> =>
      (await overview(`${PATH}?${query}`)).map((part) => valuesOf(part).id);
    expect(await idsOf('_id=c-quiet')).toEqual(['c-quiet']);
    expect(await idsOf('_id=none')).toEqual([]);
    expect(await idsOf('state=failing')).toEqual(['b-failing']);
    expect(await idsOf('state=active')).toEqual(['a-good', 'c-quiet']);
    expect(await idsOf('state=held')).toEqual([]);
    expect(await idsOf('_id=c-quiet&state=failing')).toEqual([]);
    await database.query('update delivery_generation set is_held = true');
    expect(await idsOf('state=held')).toEqual(['a-good', 'b-failing', 'c-quiet']);
    expect([await idsOf('state=failing'), await idsOf('state=active')]).toEqual([[], []]);
    await database.query('update delivery_generation set is_held = false');
  });

  it.each(['_count=0', '_count=101', '_count=x', 'state=broken'])('refuses %s', async (query) => {
    expect((await app.get(`${PATH}?${query}`)).status).toBe(400);
  });

  it('reads a bounded part of a long queue', async () => {
    await database.query(
      `insert into outbox_event (event_id, destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
       select next_event_id(), (select destination_key from destination_runtime where destination_id = 'c-quiet'),
         1, 1, 'Patient', 'none', 'create', 'POST' from generate_series(1, 30000)`,
    );
    await database.query('analyze outbox_event');
    const quiet = (await overview()).map(valuesOf).find(({ id }) => id === 'c-quiet');
    expect(quiet).toMatchObject({ queued: MOST_COUNTED, queuedIsMore: true });
    await database.query(`prepare overview (text, integer, text, integer) as ${READ_STATUS.text}`);
    const { rows } = await database.query<Record<string, string>>(
      `explain (analyze, costs off, timing off, summary off) execute overview('', 21, null, ${MOST_COUNTED + 1})`,
    );
    const plan = rows.map((row) => row['QUERY PLAN'] ?? '');
    const onQueue = plan.filter((line) => line.includes('outbox_event'));
    expect(onQueue.filter((line) => line.includes('Seq Scan'))).toEqual([]);
    for (const line of onQueue) expect(Number(/rows=([\d.]+)/.exec(line)?.[1])).toBeLessThanOrEqual(MOST_COUNTED + 1);
  });
});
