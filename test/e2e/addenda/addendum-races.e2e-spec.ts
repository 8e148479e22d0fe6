import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { Clock } from '../../../src/platform/time/clock';
import { type TestApp, startTestApp } from '../../../testing/test-app';

interface Addendum {
  readonly id: string;
  readonly type: string;
  readonly date: string;
  readonly changed?: boolean;
  readonly snapshot?: object;
  readonly [member: string]: unknown;
}

/** Number of rounds; for a longer run set `RACE_ROUNDS=500`. */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 5);
const CALLS = 16;
const HOUR = 3_600_000;
const user = { id: 'doc-1', resourceType: 'User' };

describe(`addenda on two servers, ${ROUNDS} rounds`, () => {
  let servers: [TestApp, TestApp];
  let database: Client;
  let targets = 0;

  beforeAll(async () => {
    const first = await startTestApp();
    servers = [first, await startTestApp({ databaseUrl: first.databaseUrl })];
    database = await first.connect();
  });
  afterAll(async () => {
    const [first, second] = servers;
    await second.close();
    await first.close();
  });

  const server = (index: number): TestApp => (index % 2 === 0 ? servers[0] : servers[1]);
  const callOf = (method: string, params: object): object => ({ method: `svc.sdc.addendum/${method}`, params });
  async function post<T>(index: number, body: object | string): Promise<T> {
    const { status, text } = await server(index).post('/rpc', body);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    return JSON.parse(text) as T;
  }
  const resultOf = async <T = Addendum>(index: number, method: string, params: object): Promise<T> =>
    (await post<{ result: T }>(index, callOf(method, params))).result;
  const newTarget = (resourceType = 'SDCDocument'): { id: string; resourceType: string } => ({
    id: `t-${++targets}`,
    resourceType,
  });
  const addendaOf = (target: object): Promise<readonly Addendum[]> => resultOf(0, 'get-addendums', { target });

  it(
    `exactly one of ${CALLS} concurrent identical signed bodies becomes a snapshot`,
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const target = newTarget(round % 2 === 0 ? 'SDCDocument' : 'SDCWorkflow');
        // The same body in two spellings. They count as identical, since only the content is compared.
        const bodies = [
          `{"id":"${target.id}","resourceType":"${target.resourceType}","status":"completed","a":{"x":1.10,"y":[${round}]}}`,
          `{"a": {"y": [${round}], "x": 1.10}, "meta": {"tag": []}, "status": "completed", "resourceType": "${target.resourceType}", "id": "${target.id}"}`,
        ];
        const answers = await Promise.all(
          Array.from({ length: CALLS }, (_, index) =>
            post<{ result: Addendum }>(
              index,
              `{"method":"svc.sdc.addendum/add-to-history","params":{"resource":${bodies[(index >> 1) % 2] ?? ''},"user":${JSON.stringify(user)}}}`,
            ),
          ),
        );
        const addenda = await addendaOf(target);
        expect(addenda.map(({ changed, snapshot }) => [changed, snapshot !== undefined])).toEqual([
          [true, true],
          ...Array<unknown>(CALLS - 1).fill([false, false]),
        ]);
        expect(new Set(addenda.map(({ id }) => id))).toEqual(new Set(answers.map(({ result }) => result.id)));
      }
    },
    30_000 + ROUNDS * 2000,
  );

  it(
    'each of many concurrent different bodies becomes a snapshot, and each amendment compares two neighbors',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const target = newTarget();
        const calls = Array.from({ length: 8 }, (_, index) =>
          index % 2 === 0
            ? callOf('add-to-history', { resource: { ...target, status: 'completed', index }, user })
            : callOf('create-amendment', { target, user }),
        );
        const answers = await Promise.all(calls.map((call, index) => server(index >> 1).post('/rpc', call)));
        // A create-amendment may run before the target is stored; then it gets 422.
        expect(answers.filter(({ status }, index) => status !== 200 && !(status === 422 && index % 2 === 1))).toEqual(
          [],
        );
        const addenda = await addendaOf(target);
        const snapshots = addenda.filter(({ snapshot }) => snapshot !== undefined).map(({ id }) => id);
        expect(snapshots).toHaveLength(4);
        for (const [place, addendum] of addenda.entries()) {
          if (addendum['new-revision'] === undefined) continue;
          const before = addenda.slice(0, place).filter(({ snapshot }) => snapshot !== undefined);
          expect([addendum['old-revision'], addendum['new-revision']]).toEqual(
            before.slice(-2).map(({ id }) => ({ id, resourceType: 'SDCAddendum' })),
          );
        }
      }
    },
    30_000 + ROUNDS * 2000,
  );

  it('1,000 of one millisecond, on two servers whose clocks differ by an hour, keep their order', async () => {
    const target = newTarget();
    const now = Date.UTC(2025, 1, 11, 9, 14, 7, 482);
    const clocks = servers.map((app, index) =>
      Object.assign(app.app.get(Clock), { now: () => new Date(now - index * HOUR) }),
    );
    try {
      let body = 0;
      const record = (): object =>
        callOf('add-to-history', { resource: { ...target, status: 'completed', body: ++body }, user });
      const batches = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          post<{ result: Addendum }[]>(
            index,
            Array.from({ length: 100 }, () => record()),
          ),
        ),
      );
      const addenda = await addendaOf(target);
      expect(addenda).toHaveLength(1000);
      expect(new Set(addenda.map(({ date }) => date))).toEqual(
        new Set([now, now - HOUR].map((time) => new Date(time).toISOString())),
      );
      // The clocks of the servers differ, so an order by date is not the order of the addenda.
      const byDate = [...addenda].sort((a, b) => (a.date < b.date ? -1 : 1)).map(({ id }) => id);
      expect(byDate).not.toEqual(addenda.map(({ id }) => id));

      const place = new Map(addenda.map(({ id }, index) => [id, index]));
      for (const batch of batches) {
        const places = batch.map(({ result }) => place.get(result.id) ?? -1);
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }
      const { rows } = await database.query<{ sequence: number; id: string }>(
        'select sequence, addendum_id as id from addendum_entry where target_id = $1 order by sequence',
        [target.id],
      );
      expect(rows).toEqual(addenda.map(({ id }, index) => ({ sequence: index + 1, id })));

      // This History has the latest sequence number, although the clock of its server is an hour behind.
      const last = await resultOf(1, 'add-to-history', { resource: { ...target, status: 'amended' }, user });
      expect(last.date).toBe(new Date(now - HOUR).toISOString());
      expect(await resultOf(0, 'create-amendment', { target, user })).toMatchObject({
        'old-revision': { id: addenda.at(-1)?.id },
        'new-revision': { id: last.id },
      });
      expect((await addendaOf(target)).at(-2)).toEqual(last);
    } finally {
      for (const clock of clocks) Reflect.deleteProperty(clock, 'now');
    }
  }, 60_000);
});
