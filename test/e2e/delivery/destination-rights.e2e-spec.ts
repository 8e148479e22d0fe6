import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { countsOf, destination, newDestination, newName, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { type Received, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';

interface NativeReference {
  readonly resourceType: string;
  readonly id: string;
}

/** A way in which a User or Client has the right to read Observations, with functions that give and take it. */
interface Right {
  readonly name: string;
  readonly principal: NativeReference;
  readonly give: (on: TestApp) => Promise<Received>;
  readonly take: (on: TestApp) => Promise<Received>;
  /** Stores further resources for the case. */
  readonly prepare?: (on: TestApp) => Promise<Received>;
}

const user = (id: string): NativeReference => ({ resourceType: 'User', id });
const policyOf = (link: NativeReference, more: object = { engine: 'allow' }): object => ({ link: [link], ...more });

const RIGHTS: readonly Right[] = [
  {
    name: 'an active User',
    principal: user('active'),
    prepare: (on) => on.put('/AccessPolicy/of-active', policyOf(user('active'))),
    give: (on) => on.put('/User/active', {}),
    take: (on) => on.put('/User/active', { inactive: true }),
  },
  {
    name: 'a stored User',
    principal: user('stored'),
    prepare: (on) => on.put('/AccessPolicy/of-stored', policyOf(user('stored'))),
    give: (on) => on.put('/User/stored', {}),
    take: (on) => on.delete('/User/stored'),
  },
  {
    name: 'what a policy reads of its User',
    principal: user('ward'),
    prepare: (on) =>
      on.put('/AccessPolicy/of-ward', policyOf(user('ward'), { engine: 'matcho', matcho: { user: { data: 'a' } } })),
    give: (on) => on.put('/User/ward', { data: 'a' }),
    take: (on) => on.put('/User/ward', { data: 'b' }),
  },
  {
    name: 'a policy',
    principal: user('granted'),
    prepare: (on) => on.put('/User/granted', {}),
    give: (on) => on.put('/AccessPolicy/of-granted', policyOf(user('granted'))),
    take: (on) => on.delete('/AccessPolicy/of-granted'),
  },
  {
    name: 'a Role',
    principal: user('clinician'),
    prepare: async (on) => {
      await on.put('/User/clinician', {});
      return on.put('/AccessPolicy/of-clinicians', { engine: 'allow', roleName: 'clinician' });
    },
    give: (on) => on.put('/Role/of-clinician', { name: 'clinician', user: user('clinician') }),
    take: (on) => on.delete('/Role/of-clinician'),
  },
  {
    name: 'an active Client',
    principal: { resourceType: 'Client', id: 'sender' },
    prepare: (on) => on.put('/AccessPolicy/of-sender', policyOf({ resourceType: 'Client', id: 'sender' })),
    give: (on) => on.put('/Client/sender', { secret: 'sender', grant_types: ['basic'] }),
    take: (on) => on.put('/Client/sender', { secret: 'sender', grant_types: ['basic'], active: false }),
  },
];

const observation = (more: object = {}): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'pulse' },
  ...more,
});

/** Writes of observations, with the number of events that each causes. */
const WRITES: readonly (readonly [name: string, events: number, write: (on: TestApp) => Promise<Received>])[] = [
  ['POST', 1, (on) => on.post('/fhir/Observation', observation())],
  ['PUT', 1, (on) => on.put(`/fhir/Observation/${newName()}`, observation())],
  [
    'serializable PUT',
    1,
    (on) => {
      const headers = { 'x-max-isolation-level': 'serializable' };
      return on.send('PUT', `/fhir/Observation/${newName()}`, { body: observation(), headers });
    },
  ],
  [
    'transaction',
    2,
    (on) =>
      on.post('/fhir', {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          { request: { method: 'POST', url: 'Observation' }, resource: observation() },
          { request: { method: 'PUT', url: `Observation/${newName()}` }, resource: observation() },
        ],
      }),
  ],
];

let first: TestApp;
let second: TestApp;
let database: Client;
let topic: string;

beforeAll(async () => {
  const environment = { SVC_DELIVERY_POLL_MILLISECONDS: '60000' };
  first = await startTestApp({ environment });
  second = await startTestApp({ databaseUrl: first.databaseUrl, environment });
  database = await first.connect();
  topic = await newTopic(first, { resource: 'Observation' });
});
afterAll(async () => {
  await second.close();
  await first.close();
});

async function done(answer: Promise<Received>): Promise<void> {
  const { status, text } = await answer;
  expect([status === 201 ? 200 : status, text]).toEqual([200, expect.any(String)]);
}

/** Stores a destination with an endpoint at which nothing listens, so captured events stay in the queue. */
async function newHearer(right: Right): Promise<string> {
  const { principal, prepare, give } = right;
  if (prepare !== undefined) await done(prepare(first));
  await done(give(first));
  return principal.resourceType === 'User'
    ? newDestination(first, destination(topic, { principal }))
    : newDestination(first, destination(topic), { authorization: basicHeader('sender', 'sender') });
}

async function eventCount(id: string): Promise<number> {
  const { messagesQueued = 0, messagesInProcess = 0 } = await countsOf(first, id);
  return messagesQueued + messagesInProcess;
}

describe.each(RIGHTS)('$name', (right) => {
  let id: string;

  beforeAll(async () => {
    id = await newHearer(right);
  });
  afterAll(() => first.delete(`/fhir/SvcTopicDestination/${id}`));

  async function eventsOf(write: () => Promise<Received>): Promise<number> {
    const before = await eventCount(id);
    await done(write());
    return (await eventCount(id)) - before;
  }

  it.each(WRITES)('applies from its response on, on each server: %s', async (_name, events, write) => {
    for (const [here, there] of [
      [first, second],
      [second, first],
    ] as const) {
      expect(await eventsOf(() => write(there))).toBe(events);
      await done(right.take(here));
      expect(await eventsOf(() => write(there))).toBe(0);
      await done(right.give(here));
      expect(await eventsOf(() => write(there))).toBe(events);
    }
  });

  it.each(WRITES.filter(([name]) => name === 'POST' || name === 'PUT'))(
    'applies to a concurrent %s too, until its events are stored',
    async (_name, _events, write) => {
      const before = await eventCount(id);
      await database.query('begin');
      try {
        await database.query('lock table outbox_event in share row exclusive mode');
        const answer = write(second);
        await eventually('the write is about to store its events', async () => {
          // Within a transaction, PostgreSQL shows the statistics of the first read until they are cleared.
          await database.query('select pg_stat_clear_snapshot()');
          const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into outbox_event%'`;
          return (await database.query(waiting)).rowCount === 1;
        });
        await done(right.take(first));
        await database.query('rollback');
        await done(answer);
      } finally {
        await database.query('rollback');
      }
      expect((await eventCount(id)) - before).toBe(0);
      await done(right.give(first));
    },
  );
});

describe('a write that changes rights in the same transaction', () => {
  const principal = user('leaving');

  it('is delivered by the rights after the transaction', async () => {
    await first.put('/AccessPolicy/of-leaving', policyOf(principal));
    await first.put('/User/leaving', {});
    const id = await newDestination(first, destination(topic, { principal }));
    const write = (leaving: object): Promise<Received> =>
      first.post('/fhir', {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          { request: { method: 'POST', url: 'Observation' }, resource: observation() },
          { request: { method: 'PUT', url: 'User/leaving' }, resource: { resourceType: 'User', ...leaving } },
        ],
      });
    const newEvents = async (leaving: object): Promise<number> => {
      await done(first.post('/fhir/Observation', observation())); // from now on, the destination gets events
      const before = await eventCount(id);
      await done(write(leaving));
      return (await eventCount(id)) - before;
    };
    expect([await newEvents({ data: 'stays' }), await newEvents({ inactive: true }), await newEvents({})]).toEqual([
      1, 0, 1,
    ]);
  });

  it.each<[string, (name: string) => [path: string, body: object]]>([
    ['User', (name) => [`/User/${name}`, {}]],
    ['Client', (name) => [`/Client/${name}`, { grant_types: ['basic'], secret: name }]],
    ['Role', (name) => [`/Role/${name}`, { name, user: user('leaving') }]],
    ['AccessPolicy', (name) => [`/AccessPolicy/${name}`, policyOf(user(name))]],
  ])('is delivered as an ordinary event: %s', async (resource, of) => {
    const id = await newDestination(first, destination(await newTopic(first, { resource })));
    await done(second.put(...of(newName())));
    expect(await eventCount(id)).toBe(1);
  });
});

describe('rights that change constantly', () => {
  it('never prevent writes or the capture of their events', async () => {
    await first.put('/AccessPolicy/of-listener', policyOf(user('listener')));
    await first.put('/User/listener', {});
    const id = await newDestination(first, destination(topic, { principal: user('listener') }));
    const answers: Received[] = [];
    const writer = async (on: TestApp): Promise<void> => {
      for (let round = 0; round < 5; round++) for (const [, , write] of WRITES) answers.push(await write(on));
    };
    const writers = Promise.all([writer(first), writer(second)]);
    let isOver = false;
    void writers.finally(() => (isOver = true));
    const busybody = async (on: TestApp, name: string): Promise<void> => {
      for (let count = 0; !isOver; count++) await on.put(`/User/${name}`, { data: count });
    };
    await Promise.all([writers, busybody(first, newName()), busybody(second, newName())]);
    expect(answers.map(({ status }) => status).filter((status) => status > 299)).toEqual([]);
    const events = WRITES.reduce((sum, [, count]) => sum + count, 0);
    expect(await eventCount(id)).toBe(10 * events);
  });
});

describe('a create without a transaction', () => {
  it('is delivered to destinations whose row criteria match it, and to no other limited ones', async () => {
    await first.put('/User/limited', {});
    await first.put('/AccessPolicy/of-limited', {
      ...policyOf(user('limited')),
      criteria: ['Observation?subject=Patient/own'],
    });
    const id = await newDestination(first, destination(topic, { principal: user('limited') }));
    for (const patient of ['own', 'other', 'own'])
      await done(second.post('/fhir/Observation', observation({ subject: { reference: `Patient/${patient}` } })));
    expect(await eventCount(id)).toBe(2);
  });
});
