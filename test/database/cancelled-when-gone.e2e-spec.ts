import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BACKGROUND, type RequestTicket, type Ticket } from '../../src/platform/admission/ticket';
import { ServiceError } from '../../src/platform/errors/service-error';
import { COUNTER_ADD, COUNTER_READ, CounterDatabase } from '../support/counter-database';
import { eventually } from '../../testing/eventually';
import { cancelledWhenGone } from '../../src/platform/database/cancelled-when-gone';
import { poolOf } from '../../src/platform/database/connection-slots';
import { Snapshots } from '../../src/platform/database/snapshots';
import { type Statement } from '../../src/platform/database/statement';
import { TimeLimit } from '../../src/platform/database/time-limit';

const SLEEP: Statement = { name: 'gone-sleep', text: 'select pg_sleep($1)' };
const RUNNING: Statement = {
  name: 'gone-running',
  text: `select count(*) as count from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%' and state = 'active'`,
};
const BACKENDS: Statement = {
  name: 'gone-backends',
  text: `select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend' order by pid`,
};

describe(cancelledWhenGone.name, () => {
  let database: CounterDatabase;

  beforeAll(async () => {
    database = await CounterDatabase.open();
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  /** Runs work as a request whose client can disconnect. */
  const asRequest = (
    work: () => Promise<unknown>,
    caller = 'User/a',
  ): { leave: () => void; ended: Promise<unknown> } => {
    const control = new AbortController();
    const ticket: Ticket = { ...BACKGROUND, caller, signal: control.signal };
    const wire = { origin: {} as never, ticket: ticket as RequestTicket, correlationId: undefined };
    const ended = database.requests.run('r', work, wire).catch((error: unknown) => error);
    const leave = (): void => {
      control.abort(new ServiceError('busy', 'gone'));
    };
    return { ended, leave };
  };

  const counted = async (statement: Statement): Promise<unknown> =>
    (await database.statements.runOne<{ count: number }>(statement, []))?.count;
  const backends = async (): Promise<unknown> => database.statements.run(BACKENDS, []);
  const running = (count: number) => (): Promise<boolean> => counted(RUNNING).then((found) => found === count);

  const sleep = (): Promise<unknown> => database.statements.run(SLEEP, [30]);
  const ways: [string, () => Promise<unknown>][] = [
    ['alone', sleep],
    ['within a limit', () => database.statements.within(new TimeLimit(40, ''), sleep)],
    [
      'in a transaction',
      () =>
        database.unitOfWork.run(async () => {
          await database.add('a');
          await sleep();
        }),
    ],
    [
      'in a transaction within a limit',
      () =>
        database.unitOfWork.run(async () => {
          await database.add('a');
          await database.statements.within(new TimeLimit(40, ''), sleep);
        }),
    ],
    [
      'in a snapshot',
      () =>
        new Snapshots(database.dataSource, database.requests).within(
          { seconds: 40, refusal: () => new ServiceError('timeout', '') },
          (snapshot) => snapshot.run(SLEEP, [30]),
        ),
    ],
  ];

  it.each(ways)(
    'S2: cancels a statement %s when its client disconnects, and keeps the connection',
    async (_way, work) => {
      await Promise.all([1, 2, 3, 4].map(() => database.statements.run(SLEEP, [0.05])));
      const before = await backends();
      const request = asRequest(work);
      await eventually('the statement runs', running(1));
      const leftAt = performance.now();
      request.leave();
      expect(await request.ended).toMatchObject({ message: 'gone' });
      expect(performance.now() - leftAt).toBeLessThan(20_000); // the statement would take 30 s
      expect([await counted(RUNNING), await database.countInTransaction()]).toEqual([0, 0]);
      // Earlier writes are rolled back, and all connections serve other requests.
      expect(await Promise.all([1, 2, 3, 4].map(() => database.findValue('a')))).toEqual([0, 0, 0, 0]);
      expect(await backends()).toEqual(before);
    },
  );

  it('S2: starts no statement for a disconnected client, and rolls back its transaction between two statements', async () => {
    const request = asRequest(() =>
      database.unitOfWork.run(async () => {
        await database.add('a');
        request.leave();
        await database.add('b');
      }),
    );
    expect(await request.ended).toMatchObject({ message: 'gone' });
    expect([await database.findValue('a'), await database.findValue('b')]).toEqual([0, 0]);
  });

  it('S2: keeps a committed transaction and runs its actions after the commit, although the client disconnects', async () => {
    const request = asRequest(() =>
      database.unitOfWork.run(async () => {
        await database.add('a');
        database.unitOfWork.afterCommit(() => database.add('b'));
      }),
    );
    await request.ended;
    request.leave();
    await eventually('the action has run', async () => (await database.findValue('b')) === 1);
    expect(await database.findValue('a')).toBe(1);
  });

  it('S2: never cancels the next statement on the connection', async () => {
    const pool = poolOf(database.dataSource);
    const failures: unknown[] = [];
    let cancelled = 0;
    const leaving = async (round: number): Promise<void> => {
      const request = asRequest(() => database.statements.run(SLEEP, [0.02]));
      // Disconnect at different times: from before the statement begins until after it has ended.
      await delay(round % 40);
      request.leave();
      if ((await request.ended) instanceof Error) cancelled++;
      // The pool hands out the connection used last, so the next requests get it at once.
      const others = asRequest(async () => {
        for (let n = 0; n < 5; n++) await database.statements.run(COUNTER_READ, ['a']);
        await database.statements.run(COUNTER_ADD, ['a', 1]);
      }, 'User/b');
      const error = await others.ended;
      if (error !== undefined) failures.push(error);
    };
    for (let round = 0; round < 120; round += 3) await Promise.all([0, 1, 2].map((n) => leaving(round + n)));
    expect(failures).toEqual([]);
    expect(cancelled).toBeGreaterThan(5); // on a busy machine, few statements are still running
    expect(await database.findValue('a')).toBe(120);
    expect(pool.totalCount).toBeLessThanOrEqual(4);
  }, 60_000);

  it('S2: destroys a connection if its cancel request fails, since the request might still arrive', async () => {
    const client = await poolOf(database.dataSource).connect();
    client.on('error', () => undefined);
    const control = new AbortController();
    Object.assign(client, { port: 1 });
    const sleeping = async (): Promise<void> => {
      await client.query('select pg_sleep(30)');
    };
    const ended = cancelledWhenGone(control.signal, client, sleeping);
    control.abort(new ServiceError('busy', 'gone'));
    await expect(ended).rejects.toMatchObject({ message: 'gone' });
    client.release();
    expect(client.connection.stream.destroyed).toBe(true);
    expect(await Promise.all([1, 2, 3, 4].map(() => database.findValue('a')))).toEqual([0, 0, 0, 0]);
  });
});

describe('connection limits per caller', () => {
  let database: CounterDatabase;

  beforeAll(async () => {
    database = await CounterDatabase.open();
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  const as = <T>(caller: string, work: () => Promise<T>): Promise<T> =>
    database.requests.run('r', work, {
      origin: {} as never,
      ticket: { ...BACKGROUND, caller } as RequestTicket,
      correlationId: undefined,
    });
  const costly = (caller: string): Promise<unknown> =>
    as(caller, () => database.statements.within(new TimeLimit(40, ''), () => database.statements.run(SLEEP, [0.4])));

  it('S2: leave connections to reads, writes and transactions of others during costly searches of one caller', async () => {
    const flood = Promise.allSettled(Array.from({ length: 8 }, () => costly('User/a')));
    const running = async (): Promise<number> =>
      (await database.statements.runOne<{ count: number }>(RUNNING, []))?.count ?? 0;
    await eventually('some run', async () => (await running()) > 0);
    const startedAt = performance.now();
    for (let n = 0; n < 10; n++) {
      await as('User/b', () => database.findValue('a'));
      await as('User/b', () => database.unitOfWork.run(() => database.add('a')));
    }
    expect(await running()).toBeLessThanOrEqual(1);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    await flood;
  });

  it('S2: leave connections to reads during many transactions of one caller, and alternate between callers', async () => {
    const order: string[] = [];
    const hold = (caller: string): Promise<void> =>
      as(caller, () =>
        database.unitOfWork.run(async () => {
          order.push(caller);
          await database.statements.run(SLEEP, [0.1]);
        }),
      );
    const flood = Array.from({ length: 6 }, () => hold('User/a'));
    await delay(20);
    const other = hold('User/b');
    expect(await as('User/b', () => database.findValue('a'))).toBe(0);
    await Promise.all([...flood, other]);
    expect(order.indexOf('User/b')).toBeLessThan(5);
  });
});
