import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';
import { undeliveredEvents } from '../../support/undelivered';
import { transactionOn } from '../../support/bundle';

const CLIENTS = 32;

interface Entry {
  readonly resource?: object;
  readonly request: object;
}
const put = (id: string, members: object): Entry => ({
  resource: { resourceType: 'Basic', id, ...members },
  request: { method: 'PUT', url: `Basic/${id}` },
});
const flagOf = (members: object): object => ({
  ...{ resourceType: 'Flag', status: 'active', code: { text: 'x' }, subject: { reference: 'Patient/p' } },
  ...members,
});

describe('concurrent transactions', () => {
  let cloned: ClonedDatabase;
  let app: TestApp;
  let database: Client;
  beforeAll(async () => {
    cloned = await cloneDatabase();
    app = await startTestApp({ databaseUrl: cloned.url });
    database = new Client({ connectionString: app.databaseUrl });
    await database.connect();
  });
  afterAll(async () => {
    await database.end();
    await cloned.drop();
  });

  const transact = (entry: readonly Entry[]): Promise<Received> => transactionOn(app, entry);

  /** The values of each id with this prefix, one for each version. */
  const versionsOf = async (prefix: string): Promise<Record<string, string[]>> => {
    const { rows } = await database.query<{ id: string; bodies: string[] }>(
      `select id, array_agg(body order by version) as bodies from (
         select id, version, body from resource union all select id, version, body from resource_history
       ) v where id like $1 group by id`,
      [`${prefix}%`],
    );
    const valueOf = (body: string): string => (JSON.parse(body) as { code: { text: string } }).code.text;
    return Object.fromEntries(rows.map(({ id, bodies }) => [id, bodies.map(valueOf)]));
  };

  it.each([
    ['small', 8, CLIENTS, 'new'],
    ['small', 8, CLIENTS, 'stored'],
    // 140 entries have more ids than the server locks one by one.
    ['large', 140, 12, 'new'],
    ['large', 140, 12, 'stored'],
  ])(
    'are atomic on the same ids in different orders: %s (%i entries, %i clients), %s',
    async (...shape) => {
      const [size, count, clients, state] = shape;
      const prefix = `${size}-${state}-`;
      const ids = Array.from({ length: count }, (_, n) => `${prefix}${n}`);
      if (state === 'stored') await transact(ids.map((id) => put(id, { code: { text: 'before' } })));
      const answers = await Promise.all(
        Array.from({ length: clients }, (_, client) => {
          const turned = [...ids.slice(client % count), ...ids.slice(0, client % count)];
          const order = client % 2 === 0 ? turned : turned.reverse();
          return transact(order.map((id) => put(id, { code: { text: `client ${client}` } })));
        }),
      );
      expect(new Set(answers.map(({ status, text }) => (status === 200 ? 'done' : text)))).toEqual(new Set(['done']));
      const histories = Object.values(await versionsOf(prefix));
      expect(histories).toHaveLength(count);
      // All ids have the values of the transactions in the same order, so the transactions ran one after the other.
      expect(new Set(histories.map((values) => values.join()))).toHaveProperty('size', 1);
      expect(histories[0]).toHaveLength(clients + (state === 'stored' ? 1 : 0));
    },
    60_000,
  );

  it('with one condition create one resource, and every reference points to it', async () => {
    const urn = 'urn:uuid:00000000-0000-4000-8000-000000000001';
    const identifier = [{ system: 'http://clinic.example/npi', value: '1' }];
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, () =>
        transact([
          { resource: flagOf({ author: { reference: urn } }), request: { method: 'POST', url: 'Flag' } },
          {
            ...{ fullUrl: urn, resource: { resourceType: 'Practitioner', identifier } },
            request: { method: 'POST', url: 'Practitioner', ifNoneExist: 'identifier=http://clinic.example/npi|1' },
          },
        ]),
      ),
    );
    const statuses = answers.map((answer) => {
      const { entry = [] } = answer.json<{ entry?: { response: { status: string } }[] }>();
      return entry.map(({ response }) => response.status).join();
    });
    expect(statuses.sort()).toEqual([
      ...Array.from({ length: CLIENTS - 1 }, () => '201 Created,200 OK'),
      '201 Created,201 Created',
    ]);
    const found = await app.get('/fhir/Practitioner?identifier=http://clinic.example/npi|1');
    const { entry } = found.json<{ entry: { resource: { id: string } }[] }>();
    expect(entry).toHaveLength(1);
    const links = await app.get(`/fhir/Flag?author=Practitioner/${entry[0]?.resource.id ?? ''}`);
    expect(links.json<{ total: number }>().total).toBe(CLIENTS);
  });

  it('and concurrent single writes lose nothing', async () => {
    const ids = Array.from({ length: 10 }, (_, n) => `mixed-${n}`);
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, (_, client) =>
        client % 2 === 0
          ? transact(ids.map((id) => put(id, { code: { text: `client ${client}` } })))
          : app.put(`/fhir/Basic/mixed-${client % 10}`, { code: { text: `client ${client}` } }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status < 300))).toEqual(new Set([true]));
    const { rows } = await database.query<{ gaps: number }>(
      `select count(*)::integer as gaps from (
         select id, max(version) as newest, count(*) as versions from (
           select id, version from resource union all select id, version from resource_history) v
         where id like 'mixed-%' group by id) h where newest <> versions`,
    );
    expect(rows[0]?.gaps).toBe(0);
  });

  it('cause no deadlock', async () => {
    await app.close(); // PostgreSQL adds the counts of connections when they end
    const counted = await database.query<{ deadlocks: string }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(counted.rows).toEqual([{ deadlocks: '0' }]);
  });
});

describe('events of Bundles', () => {
  let app: TestApp;
  let database: Client;
  beforeAll(async () => {
    app = await startTestApp();
    database = await app.connect();
    await app.put('/fhir/SvcSubscriptionTopic/bundles', {
      ...{ url: 'http://clinic.example/topics/bundles', status: 'active', trigger: [{ resource: 'Flag' }] },
    });
    await app.put('/fhir/SvcTopicDestination/bundles', {
      meta: { profile: ['http://clinic.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
      kind: 'webhook-at-least-once',
      topic: 'http://clinic.example/topics/bundles',
      // Nothing listens at this endpoint, so events stay in the queue.
      parameter: [{ name: 'endpoint', valueUrl: 'http://127.0.0.1:9/hook' }],
    });
  });
  afterAll(() => app.close());

  const flag = (id: string, members: object = {}): Entry => ({
    resource: flagOf({ id, ...members }),
    request: { method: 'PUT', url: `Flag/${id}` },
  });
  const events = async (): Promise<string[]> =>
    (await undeliveredEvents(database)).map(({ method, interaction, id, version }) =>
      [method, interaction, id, version].join(' '),
    );
  const send = (type: string, ...entry: Entry[]): Promise<Received> =>
    app.post('/fhir', { resourceType: 'Bundle', type, entry });

  it('are created once for each change, in the order of versions, and not for rolled-back ones', async () => {
    const wrong = { resource: flagOf({ id: 'x' }), request: { method: 'PUT', url: 'Flag/y' } };
    const remove = { request: { method: 'DELETE', url: 'Flag/e1' } };
    await send('transaction', flag('e1'), flag('e2'), flag('e1', { status: 'inactive' }), remove);
    await send('transaction', flag('e2')); // identical content: no version, no event
    expect((await send('transaction', flag('e3'), wrong)).status).toBe(400);
    expect((await send('transaction', flag('e3'), { request: { method: 'GET', url: 'Flag/none' } })).status).toBe(404);
    await send('batch', flag('e4'), wrong, flag('e5'));
    expect(await events()).toEqual([
      'PUT create e1 1',
      'PUT create e2 1',
      'PUT update e1 2',
      'DELETE delete e1 3',
      'PUT create e4 1',
      'PUT create e5 1',
    ]);
  });
});
