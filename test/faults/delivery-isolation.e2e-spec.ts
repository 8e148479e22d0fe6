import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DeliveryBed, type DeliveringServer } from '../support/delivery-bed';
import { arrivalsAt } from '../support/arrivals';
import { constant, withChanges } from '../support/changed-code';
import { eventually } from '../../testing/eventually';
import { type WebhookReceiver } from '../../testing/webhook-receiver';
import { FullBacklog } from '../support/full-backlog';
import { HANGING_WAYS, HangingReceivers, type Way } from '../../tools/bench/delivery/hanging-receivers';

const HEALTHY = ['h1', 'h2', 'h3', 'h4', 'h5'];
const TARPITS = Array.from({ length: 50 }, (_value, index) => `t${index + 1}`);
/** The number of delivery slots: the minimum, so that only the tested mechanism allows many concurrent attempts. */
const SLOTS = 1;
const BUFFER_BYTES = 16 * 1024 * 1024;
/** A timeout that is longer than the spec, so that no attempt reaches it. */
const PATIENT = { name: 'timeout', valueUnsignedInt: 86_400 };

let bed: DeliveryBed;
let server: DeliveringServer;
let well: WebhookReceiver;
let hanging: HangingReceivers;
let writes = 0;

/** The URL of a destination at the receiver: each destination has a separate path. */
const at = (receiver: WebhookReceiver, id: string): string => receiver.url.replace('/hook', `/${id}`);
const wayOf = (tarpit: string): Way => HANGING_WAYS[TARPITS.indexOf(tarpit) % HANGING_WAYS.length] ?? 'reads nothing';

beforeAll(async () => {
  bed = await DeliveryBed.open({
    SVC_DELIVERY_SLOTS: String(SLOTS),
    SVC_DELIVERY_BUFFER_BYTES: String(BUFFER_BYTES),
    SVC_METRICS_PORT: '0',
    SVC_SHUTDOWN_SECONDS: '1',
    // A receiver is stalled when it has taken nothing for 3 s instead of 10 s.
    ...withChanges(constant('delivery/send-memory.js', 'STALL_MILLISECONDS', ['10_000', '3_000'])),
  });
  [well, hanging] = await Promise.all([bed.startReceiver(), HangingReceivers.start()]);
  server = await bed.start();
  await server.makeDestinations(HEALTHY.map((id) => ({ id, url: at(well, id) })));
  await write(1);
  await healthyHaveAll();
});
afterAll(async () => {
  await bed.close();
  await hanging.stop();
});

async function write(count: number): Promise<void> {
  for (let round = 0; round < count; round++) expect((await server.putPatient('p', ++writes)).status).toBeLessThan(300);
}

async function healthyHaveAll(milliseconds?: number): Promise<void> {
  const requests = (): number => well.requests.length;
  let seen = 0;
  await eventually(
    'each healthy destination has everything',
    () => {
      if (requests() === seen) return false;
      seen = requests();
      return HEALTHY.every((id) => arrivalsAt(well, `/${id}`).keys.length === writes);
    },
    milliseconds,
  );
  for (const id of HEALTHY) expect(arrivalsAt(well, `/${id}`).faults).toEqual([]);
}

async function makeTarpits(way?: Way): Promise<void> {
  const urlOf = (id: string): string => hanging.urlOf(way ?? wayOf(id), id);
  await server.makeDestinations(TARPITS.map((id) => ({ id, url: urlOf(id), batch: 20, parameter: [PATIENT] })));
}

const remove = (...ids: readonly string[]): Promise<void> => server.removeDestinations(ids);

async function removeTarpits(): Promise<void> {
  await remove(...TARPITS);
  await eventually('their attempts are cut', () => hanging.areLeft());
  hanging.bytesRead = 0;
}

/**
 * Queues `count` events of one version for all destinations with this id prefix, as if the version had been written so
 * often.
 */
const queueEvents = (ids: string, patient: string, count: number): Promise<unknown> =>
  bed.query(`insert into outbox_event (destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
    select destination_key, length(body), version, type, id, 'update', 'PUT'
    from destination_runtime, resource, generate_series(1, ${count})
    where destination_id like '${ids}%' and type = 'Patient' and id = '${patient}'`);

describe('Many receivers that hang in different ways (F13)', () => {
  afterEach(removeTarpits);

  it('D2: have one attempt each at the same time, and delay no healthy destination', async () => {
    await makeTarpits();
    await write(1);
    await eventually('all of them hang', () => hanging.open() === TARPITS.length);
    for (const way of HANGING_WAYS) expect(hanging.open(way)).toBe(TARPITS.length / HANGING_WAYS.length);
    await write(20);
    await healthyHaveAll();
    // On a busy machine, attempts whose receivers took nothing may have ended; the next ones begin.
    await eventually('each hangs in one attempt', () => hanging.open() === TARPITS.length);
  });

  it('D2: delay neither the first attempt nor the retry of a new destination', async () => {
    await makeTarpits();
    await write(1);
    await eventually('all of them hang', () => hanging.open() === TARPITS.length);
    const retried = await bed.startReceiver();
    retried.next({ kind: 'answer', status: 500 });
    await server.makeDestination({ id: 'new', url: retried.url });
    await write(1);
    await server.delivered(1, 'new');
    expect(retried.requests.length).toBe(2);
    await eventually('each hangs in one attempt', () => hanging.open() === TARPITS.length);
    await remove('new');
  });

  it('D2: delay no new event of a destination that the same poll finds', async () => {
    const receiver = await bed.startReceiver();
    await server.makeDestination({ id: 't-found', url: receiver.url });
    await makeTarpits();
    await bed.query(
      "update destination_runtime set next_attempt_at = clock_timestamp() where destination_id = 't-found'",
    );
    await queueEvents('t', 'p', 1);
    await eventually('the poll has found them', () => hanging.open() > 0);
    await write(1);
    await eventually('its events arrive', () => receiver.requests.length > 0);
    expect(hanging.open()).toBeLessThan(TARPITS.length / 2);
    await server.delivered(2, 't-found');
    await eventually('all of them hang', () => hanging.open() === TARPITS.length);
    await remove('t-found');
  });

  it('D2: do not delay a first retry when they time out together', async () => {
    const crowd = Array.from({ length: 60 }, (_value, index) => `crowd-${index}`);
    const retried = await bed.startReceiver();
    await server.makeDestination({ id: 'retried', url: retried.url });
    const timeout = { name: 'timeout', valueUnsignedInt: 2 };
    const urlOf = (id: string): string => hanging.urlOf('answers nothing', id);
    await server.makeDestinations(crowd.map((id) => ({ id, url: urlOf(id), parameter: [timeout] })));
    const crowdWith = async (condition: string): Promise<unknown> => {
      const [row] = await bed.query(`select count(*)::integer as count from destination_runtime
        where destination_id like 'crowd-%' and ${condition}`);
      return row?.count;
    };
    const once = 'epoch = 1';
    const over = new AbortController();
    const writing = (async () => {
      while (!over.signal.aborted) await write(1);
    })();
    await eventually('all of them time out', async () => (await crowdWith('failed_batches > 0')) === crowd.length);
    let refused = Infinity;
    const statusOf = (): number => {
      refused = retried.requests.length;
      return 500;
    };
    retried.next({ kind: 'judged', statusOf });
    await eventually('it refuses an event', () => refused < Infinity);
    const before = Number(await crowdWith(once));
    await eventually('the event comes again', () => retried.requests.length > refused);
    const after = Number(await crowdWith(once));
    over.abort();
    await writing;
    expect(before).toBeGreaterThan(crowd.length / 4);
    expect(after).toBeGreaterThan(before / 3);
    await remove(...crowd, 'retried');
  });

  it('D2: delay no other destination if TCP never connects, and fail after their timeout', async () => {
    const full = await FullBacklog.start();
    try {
      const timeout = { name: 'timeout', valueUnsignedInt: 2 };
      await server.makeDestinations(TARPITS.map((id) => ({ id, url: full.url, parameter: [timeout] })));
      await write(20);
      await healthyHaveAll();
      await eventually('each attempt times out', async () => {
        const states = await Promise.all(TARPITS.map((id) => server.status(id)));
        return states.every(({ errors }) => errors[0] === 'No answer within 2 s');
      });
    } finally {
      await full.stop();
    }
  });

  it('D2: use no memory for bodies while they wait for a connection or a response', async () => {
    await putLarge();
    const memory = await residentBytes();
    for (const way of ['answers nothing', 'never completes TLS'] as const) {
      await makeTarpits(way);
      await queueEvents('t', 'large', 20);
      await eventually('all of them hang', () => hanging.open() === TARPITS.length, 60_000);
      if (way === 'answers nothing') {
        await eventually('each has got its 4 MB', () => hanging.bytesRead >= TARPITS.length * 4_000_000, 60_000);
      }
      await write(5);
      await healthyHaveAll();
      await removeTarpits();
    }
    // 200 MB were sent. Garbage remains until a collection, which writes cause.
    await eventually('no body is in memory', async () => {
      await write(1);
      return (await residentBytes()) - memory < 120_000_000;
    });
  });

  it('D2: use memory for bodies up to the budget if they read nothing; the slowest fail when others wait', async () => {
    // The body is longer than the 4 MB that Linux buffers for a sending socket.
    await putLarge('larger', 250_000);
    const memory = await residentBytes();
    await makeTarpits('reads nothing');
    await queueEvents('t', 'larger', 40);
    await eventually('all of them are connected', () => hanging.open() > TARPITS.length / 2, 60_000);
    await write(5);
    await healthyHaveAll(60_000);
    await eventually('one that took nothing has failed', async () => {
      const states = await Promise.all(TARPITS.map((id) => server.status(id)));
      return states.some(({ errors }) => errors.some((error) => String(error).startsWith('The receiver took less')));
    });
    // 250 MB are waiting, and each body would be held as a text and as bytes.
    expect((await residentBytes()) - memory).toBeLessThan(240_000_000);
  }, 200_000);
});

async function putLarge(id = 'large', length = 200_000): Promise<void> {
  const large = { resourceType: 'Patient', id, name: [{ text: 'x'.repeat(length) }] };
  if ((await server.send('PUT', `/fhir/Patient/${id}`, large)).status === 201) writes++;
  await healthyHaveAll();
}

describe('A destination with a long queue', () => {
  it('is emptied in order, while other destinations get new events', async () => {
    const busy = await bed.startReceiver();
    await server.makeDestination({ id: 'busy', url: busy.url, parameter: [PATIENT] });
    await queueEvents('busy', 'p', 10_000);
    await eventually('it is sent to', () => busy.requests.length > 0);
    await write(20);
    await healthyHaveAll();
    expect((await server.status('busy')).counts.messagesQueued).toBeGreaterThan(0);
    const requests = busy.requests.length;
    await eventually('it goes on', () => busy.requests.length > requests + 20);
    expect({ faults: arrivalsAt(busy).faults, mostAtOnce: busy.mostAtOnce }).toEqual({ faults: [], mostAtOnce: 1 });
    await remove('busy');
  });
});

const residentBytes = async (): Promise<number> => (await server.metric('process_resident_memory_bytes')) ?? NaN;

/** Number, state, resource and number of attempts of each event of a destination, latest first. */
async function timeline(id: string): Promise<unknown[]> {
  const answer = await server.send('GET', `/fhir/SvcTopicDestination/${id}/$events`);
  const { parameter } = answer.json<{ parameter: { part: { name: string }[] }[] }>();
  return parameter.map(({ part }) =>
    ['number', 'state', 'focus', 'attempts'].map((name) => {
      const { name: _name, ...value } = part.find((one) => one.name === name) ?? { name };
      const [content] = Object.values(value);
      return (content as { reference?: string } | undefined)?.reference ?? content;
    }),
  );
}

describe('An event that its receiver always refuses (F14)', () => {
  let picky: WebhookReceiver;
  const refuse = (id: string): void => {
    picky.always({ kind: 'judged', statusOf: (body) => (body.includes(`Patient/${id}/`) ? 422 : 200) });
  };
  const put = async (...ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      expect((await server.putPatient(id, 1)).status).toBe(201);
      writes++;
    }
  };
  const refused = (id: string): number => picky.requests.filter(({ body }) => body.includes(`Patient/${id}/`)).length;
  const gauge = (name: string): Promise<number | undefined> =>
    server.metric(`svc_topic_destination_${name}{destination="picky"}`);

  beforeAll(async () => {
    picky = await bed.startReceiver();
    refuse('poison');
    await server.makeDestination({ id: 'picky', url: picky.url, batch: 1 });
    await put('a1', 'a2', 'poison', 'b1', 'b2');
    await eventually('it was refused three times', () => refused('poison') >= 3);
  });

  it('is sent again with the same bytes and never skipped: later events wait, other destinations get all events', async () => {
    await healthyHaveAll();
    const { keys, faults } = arrivalsAt(picky);
    expect({ keys, faults }).toEqual({ keys: ['Patient/a1/1', 'Patient/a2/1', 'Patient/poison/1'], faults: [] });
  });

  it('is visible in $status, $events and the metrics', async () => {
    const { counts, errors } = await server.status('picky');
    expect(counts).toMatchObject({ messagesDelivered: 2, messagesInProcess: 1, messagesQueued: 2 });
    expect(counts.messageBatchesDeliveryAttempts).toBeGreaterThanOrEqual(2);
    expect(errors.slice(0, 2)).toEqual(['HTTP 422', 'HTTP 422']);
    expect(await timeline('picky')).toEqual([
      [undefined, 'queued', 'Patient/b2', undefined],
      [undefined, 'queued', 'Patient/b1', undefined],
      [3, 'in-process', 'Patient/poison', expect.any(Number)],
      [2, 'delivered', 'Patient/a2', 1],
      [1, 'delivered', 'Patient/a1', 1],
    ]);
    const age = (await gauge('oldest_message_age_seconds')) ?? NaN;
    expect(age).toBeGreaterThan(0);
    expect(await gauge('oldest_message_age_seconds')).toBeGreaterThan(age);
    expect(await gauge('failures_in_a_row')).toBeGreaterThanOrEqual(2);
    expect(await server.metric('svc_topic_destination_oldest_message_age_seconds{destination="h1"}')).toBe(0);
  });

  it('is delivered before the later events, in order, when the receiver accepts it', async () => {
    picky.always({ kind: 'answer', status: 200 });
    await server.delivered(5, 'picky');
    const { keys, faults } = arrivalsAt(picky);
    expect({ keys, faults }).toEqual({
      keys: ['a1', 'a2', 'poison', 'b1', 'b2'].map((id) => `Patient/${id}/1`),
      faults: [],
    });
    expect(await gauge('oldest_message_age_seconds')).toBe(0);
    expect(await gauge('failures_in_a_row')).toBe(0);
  });

  it('can be sent to another endpoint for a while, and $replay sends later events to the first endpoint', async () => {
    refuse('venom');
    await put('venom', 'c1');
    await eventually('it was refused', () => refused('venom') > 0);
    const elsewhere = await bed.startReceiver();
    await server.makeDestination({ id: 'picky', url: elsewhere.url, batch: 1 });
    await server.delivered(7, 'picky');
    expect(arrivalsAt(elsewhere).seen).toEqual([
      { number: 6, key: 'Patient/venom/1' },
      { number: 7, key: 'Patient/c1/1' },
    ]);
    await server.makeDestination({ id: 'picky', url: picky.url, batch: 1 });
    expect((await server.send('POST', '/fhir/SvcTopicDestination/picky/$replay?from=7&to=7')).status).toBe(200);
    await put('c2');
    await server.delivered(9, 'picky');
    expect(arrivalsAt(picky).seen.slice(-2)).toEqual([
      { number: 7, key: 'Patient/c1/1' },
      { number: 8, key: 'Patient/c2/1' },
    ]);
  });

  it('is deleted with its destination; a new destination with this id starts at event 1', async () => {
    refuse('toxin');
    await put('toxin', 'd1');
    await eventually('it was refused', () => refused('toxin') > 0);
    await remove('picky');
    expect(await gauge('oldest_message_age_seconds')).toBeUndefined();
    const before = picky.requests.length;
    await server.makeDestination({ id: 'picky', url: picky.url, batch: 1 });
    await put('d2');
    await server.delivered(1, 'picky');
    const { requests } = picky;
    expect(requests.slice(before).map(({ body }) => body.includes('Patient/d2/'))).toEqual([true]);
    expect(arrivalsAt(picky).seen[0]).toMatchObject({ number: 1 });
  });
});

describe('A server that stops while many receivers hang', () => {
  it('D2: counts the failures of all attempts that it aborts, in at most five statements', async () => {
    await makeTarpits('answers nothing');
    await write(1);
    await eventually('all of them hang', () => hanging.open() === TARPITS.length);
    await server.kill('SIGTERM');
    const [counted] =
      await bed.query(`select count(*)::integer as failures, count(distinct xmin::text)::integer as statements
      from delivery_attempt where outcome = 'The server was stopped before an answer came'`);
    expect(counted?.failures).toBe(TARPITS.length);
    expect(counted?.statements).toBeLessThanOrEqual(5);
  });
});
