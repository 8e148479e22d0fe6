import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type DataSource, type Repository } from 'typeorm';
import { type Counter, CounterDatabase } from '../support/counter-database';
import { Ambient } from '../../src/platform/ambient';
import { TransactionConflict } from '../../src/platform/database/database-error';
import { type IsolationLevel } from '../../src/platform/request/isolation-level';
import { type Statement } from '../../src/platform/database/statement';
import { type Statements } from '../../src/platform/database/statements';
import { UnitOfWork } from '../../src/platform/database/unit-of-work';

const PID: Statement = { name: 'pid', text: 'select pg_backend_pid() as pid' };

/** A barrier for two units of work: each continues when both have arrived. A repeated arrival does not wait. */
function meeting(): () => Promise<void> {
  let arrived = 0;
  let open: () => void;
  const both = new Promise<void>((resolve) => (open = resolve));
  return () => {
    if (++arrived >= 2) open();
    return both;
  };
}

describe(UnitOfWork.name, () => {
  let database: CounterDatabase;
  let dataSource: DataSource;
  let unitOfWork: UnitOfWork;
  let statements: Statements;
  let counters: Repository<Counter>;

  beforeAll(async () => {
    database = await CounterDatabase.open();
    ({ dataSource, unitOfWork, statements, counters } = database);
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  const pid = async (): Promise<unknown> => (await statements.runOne(PID, []))?.pid;

  it('commits statements and repositories together and hands on the result', async () => {
    const result = await unitOfWork.run(async () => {
      await database.add('a');
      await unitOfWork.bind(counters).update({ name: 'b' }, { value: 7 });
      return 'done';
    });
    expect([
      result,
      await database.findValue('a'),
      await database.findValue('b'),
      await database.countInTransaction(),
    ]).toEqual(['done', 1, 7, 0]);
  });

  it('takes everything back when the work fails, and hands on the error itself', async () => {
    const error = new Error('refused');
    const work = unitOfWork.run(async () => {
      await database.add('a');
      await unitOfWork.bind(counters).insert({ name: 'c', value: 1 });
      throw error;
    });
    await expect(work).rejects.toBe(error);
    expect([await database.findValue('a'), await database.findValue('c'), await database.countInTransaction()]).toEqual(
      [0, undefined, 0],
    );
  });

  it('is not seen by others before it is done', async () => {
    const seen = await unitOfWork.run(async () => {
      await database.add('a');
      const [row] = await dataSource.query<[{ value: string }]>(`select value from counter where name = 'a'`);
      return [await database.findValue('a'), row.value];
    });
    expect(seen).toEqual([1, '0']);
  });

  it('lets work outside see what is committed, and nothing else', async () => {
    const seen = await unitOfWork.run(async () => {
      await database.add('a');
      return [await unitOfWork.outside(() => database.findValue('a')), await database.findValue('a')];
    });
    expect(seen).toEqual([0, 1]);
  });

  it('does not hold work that goes on without its request', async () => {
    const [inside, outside] = await unitOfWork.run(async () => [await pid(), await Ambient.outside(pid)]);
    expect(outside).not.toBe(inside);
  });

  it('is joined by a run inside, on one connection', async () => {
    const [outer, inner, after] = await unitOfWork.run(async () => [
      await pid(),
      await unitOfWork.run(async () => pid()),
      await pid(),
    ]);
    expect([inner, after]).toEqual([outer, outer]);
  });

  it('takes back what a run inside did when the outer work fails later', async () => {
    const work = unitOfWork.run(async () => {
      await unitOfWork.run(() => database.add('a'));
      throw new Error('refused');
    });
    await expect(work).rejects.toThrow('refused');
    expect(await database.findValue('a')).toBe(0);
  });

  it('is not shared by runs side by side', async () => {
    const meet = meeting();
    const run = (name: string): Promise<unknown> =>
      unitOfWork.run(async () => {
        await database.add(name);
        await meet();
        return pid();
      });
    const [first, second] = await Promise.all([run('a'), run('b')]);
    expect(first).not.toBe(second);
  });

  it('is open inside, and over after', async () => {
    const states = [unitOfWork.isOpen, await unitOfWork.run(() => Promise.resolve(unitOfWork.isOpen))];
    expect([...states, unitOfWork.isOpen, unitOfWork.client]).toEqual([false, true, false, undefined]);
    expect(unitOfWork.bind(counters)).toBe(counters);
  });

  it('starts over after a deadlock, and both are done', async () => {
    const meet = meeting();
    let tries = 0;
    const cross = (first: string, second: string): Promise<unknown> =>
      unitOfWork.run(async () => {
        tries++;
        await database.add(first);
        await meet();
        return database.add(second);
      });
    await Promise.all([cross('a', 'b'), cross('b', 'a')]);
    expect([
      tries,
      await database.findValue('a'),
      await database.findValue('b'),
      await database.countInTransaction(),
    ]).toEqual([3, 2, 2, 0]);
  });

  it('gives up after five conflicts', async () => {
    let tries = 0;
    const work = unitOfWork.run(async () => {
      tries++;
      await database.add('a');
      throw new TransactionConflict('always');
    });
    await expect(work).rejects.toThrow(TransactionConflict);
    expect([tries, await database.findValue('a')]).toEqual([5, 0]);
  });

  it('does not start over after any other error', async () => {
    let tries = 0;
    const work = unitOfWork.run(async () => {
      tries++;
      return unitOfWork.bind(counters).insert({ name: 'a', value: 1 });
    });
    await expect(work).rejects.toMatchObject({ driverError: { code: '23505' } });
    expect(tries).toBe(1);
  });

  it('does not call a transaction done that PostgreSQL has aborted', async () => {
    const work = unitOfWork.run(async () => {
      await database.add('a');
      await statements.run({ name: 'broken', text: 'select 1 / 0' }, []).catch(() => undefined);
    });
    await expect(work).rejects.toThrow(TransactionConflict);
    expect(await database.findValue('a')).toBe(0);
  });

  it('outlives a connection that breaks, and logs no error', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error');
    const work = unitOfWork.run(async () => {
      await database.add('a');
      await dataSource.query('select pg_terminate_backend($1)', [await pid()]);
      await delay(20); // the connection ends while no statement waits on it
      await database.add('b');
    });
    await expect(work).rejects.toThrow();
    expect([await database.findValue('a'), await database.findValue('b')]).toEqual([0, 0]);
    await delay(300); // longer than work on a lost connection may go on
    const errors = logged.mock.calls;
    logged.mockRestore();
    expect(errors).toEqual([]);
  });

  describe('alone', () => {
    it('opens no transaction, and starts over after a conflict', async () => {
      const opened: boolean[] = [];
      await unitOfWork.alone(async () => {
        opened.push(unitOfWork.isOpen);
        await database.add('a');
        if (opened.length === 1) throw new TransactionConflict('once');
      });
      expect([opened, await database.findValue('a')]).toEqual([[false, false], 2]);
    });

    it('joins the open transaction, which starts over as a whole', async () => {
      let tries = 0;
      await unitOfWork.run(async () => {
        await database.add('a');
        await unitOfWork.alone(() =>
          ++tries === 1 ? Promise.reject(new TransactionConflict('once')) : Promise.resolve(),
        );
      });
      expect([tries, await database.findValue('a')]).toEqual([2, 1]);
    });
  });

  describe('finish', () => {
    it('commits behind the last statements and hands on what they found', async () => {
      const found = await unitOfWork.run(async (finish) => {
        const [, value] = await finish([database.add('a'), database.findValue('a')]);
        return [value, await unitOfWork.outside(() => database.findValue('a'))];
      });
      expect([found, await database.countInTransaction()]).toEqual([[1, 1], 0]);
    });

    it('takes everything back when one of them fails, and hands on the first failure', async () => {
      const failing = (column: string): Promise<unknown> =>
        statements.run({ name: column, text: `select ${column}` }, []);
      const work = unitOfWork.run(async (finish) => {
        await database.add('a');
        return finish([database.add('a'), failing('no_such_column'), failing('nor_this_one')]);
      });
      await expect(work).rejects.toThrow('no_such_column');
      expect([await database.findValue('a'), await database.countInTransaction()]).toEqual([0, 0]);
    });

    it('leaves the COMMIT to the run outside', async () => {
      const work = unitOfWork.run(async () => {
        await unitOfWork.run((finish) => finish([database.add('a')]));
        expect(await unitOfWork.outside(() => database.findValue('a'))).toBe(0);
        throw new Error('refused');
      });
      await expect(work).rejects.toThrow('refused');
      expect(await database.findValue('a')).toBe(0);
    });

    it('does not lose what was gathered', async () => {
      const work = unitOfWork.run((finish) => {
        unitOfWork.gather(Symbol('key'), 1, () => Promise.resolve());
        return finish([database.add('a')]);
      });
      await expect(work).rejects.toThrow('gathered');
      expect(await database.findValue('a')).toBe(0);
    });
  });

  describe('gather', () => {
    const key = Symbol('names');

    it('flushes the items of a key once, at the end, in the order of the first of each key', async () => {
      const log: unknown[] = [];
      const other = Symbol('others');
      const flushInto = (name: string) => (items: string[]) => {
        log.push([name, items]);
        return Promise.resolve();
      };
      await unitOfWork.run(async () => {
        unitOfWork.gather(key, 'first', flushInto('key'));
        unitOfWork.gather(other, 'second', flushInto('other'));
        unitOfWork.gather(key, 'third', flushInto('never asked'));
        await database.add('a');
        log.push('end of work');
      });
      expect(log).toEqual(['end of work', ['key', ['first', 'third']], ['other', ['second']]]);
    });

    it('flushes what others wait for when everything else is flushed', async () => {
      const log: string[] = [];
      await unitOfWork.run(async () => {
        unitOfWork.gather(key, 1, () => Promise.resolve(void log.push('last')), true);
        unitOfWork.gather(Symbol('first'), 1, () => Promise.resolve(void log.push('first')));
        await Promise.resolve();
      });
      expect(log).toEqual(['first', 'last']);
    });

    it('flushes inside the transaction, and what a flush gathers too', async () => {
      const inner = Symbol('inner');
      await unitOfWork.run(async () => {
        unitOfWork.gather(key, 1, async () => {
          await database.add('a');
          unitOfWork.gather(inner, 1, async () => {
            await database.add('b');
          });
        });
        await Promise.resolve();
      });
      expect([await database.findValue('a'), await database.findValue('b')]).toEqual([1, 1]);
    });

    it('takes everything back when a flush fails', async () => {
      const work = unitOfWork.run(async () => {
        unitOfWork.gather(key, 1, () => Promise.reject(new Error('refused')));
        await database.add('a');
      });
      await expect(work).rejects.toThrow('refused');
      expect(await database.findValue('a')).toBe(0);
    });

    it('begins anew when the work starts over', async () => {
      const flushed: unknown[] = [];
      let tries = 0;
      await unitOfWork.run(async () => {
        unitOfWork.gather(key, ++tries, (items) => Promise.resolve(void flushed.push(items)));
        await Promise.resolve();
        if (tries === 1) throw new TransactionConflict('once');
      });
      expect(flushed).toEqual([[2]]);
    });

    it('is for an open transaction', () => {
      expect(() => {
        unitOfWork.gather(key, 1, () => Promise.resolve());
      }).toThrow('open unit of work');
    });
  });

  describe('afterCommit', () => {
    it('acts once the transaction is committed, outside of it', async () => {
      const acted = new Promise<unknown[]>((resolve) => {
        void unitOfWork.run(async () => {
          unitOfWork.afterCommit(async () => {
            resolve([unitOfWork.isOpen, await database.findValue('a')]);
          });
          await database.add('a');
        });
      });
      expect(await acted).toEqual([false, 1]);
    });

    it('acts at once where no transaction is open', async () => {
      expect(
        await new Promise((resolve) => {
          unitOfWork.afterCommit(() => {
            resolve('acted');
          });
        }),
      ).toBe('acted');
    });

    it('acts for the try that succeeded, and never for work that failed', async () => {
      const acted: number[] = [];
      let tries = 0;
      await unitOfWork.run(async () => {
        const mine = ++tries;
        unitOfWork.afterCommit(() => acted.push(mine));
        await Promise.resolve();
        if (mine === 1) throw new TransactionConflict('once');
      });
      const failing = unitOfWork.run(() => {
        unitOfWork.afterCommit(() => acted.push(99));
        return Promise.reject(new Error('refused'));
      });
      await expect(failing).rejects.toThrow('refused');
      // Actions after a commit run in the order of the commits, so this action runs after all earlier ones.
      await new Promise<void>((resolve) => {
        unitOfWork.afterCommit(resolve);
      });
      expect(acted).toEqual([2]);
    });
  });

  describe('whenOver', () => {
    it.each([
      ['committed', () => Promise.resolve(), 1],
      ['rolled back', () => Promise.reject(new Error('refused')), 0],
    ])('acts before the run that was %s is handed back, on a connection that is free', async (_how, end, value) => {
      const acted: unknown[] = [];
      const work = unitOfWork.run(async () => {
        await database.add('a');
        await unitOfWork.whenOver(async () => {
          acted.push(unitOfWork.isOpen, await database.countInTransaction(), await database.findValue('a'));
        });
        expect(acted).toEqual([]);
        await end();
      });
      await work.catch(() => undefined);
      expect(acted).toEqual([false, 0, value]);
    });

    it('acts at once where no transaction is open', async () => {
      const acted: boolean[] = [];
      await unitOfWork.whenOver(() => acted.push(unitOfWork.isOpen));
      expect(acted).toEqual([false]);
    });

    it('leaves the outcome as it is when an action fails', async () => {
      const work = unitOfWork.run(async () => {
        await unitOfWork.whenOver(() => {
          throw new Error('not stored');
        });
        throw new Error('refused');
      });
      await expect(work).rejects.toThrow('refused');
    });
  });

  describe('at a level that the request asks for', () => {
    const LEVEL: Statement = { name: 'level', text: 'show transaction_isolation' };
    const LOCK: Statement = { name: 'lock', text: 'select pg_advisory_xact_lock($1)', lockKey: 'k::bigint' };
    const LOCKS: Statement = {
      name: 'locks',
      text: 'select count(*) as count from pg_locks where locktype = $1 and database = (select oid from pg_database where datname = current_database())',
    };

    const at = <T>(level: IsolationLevel, work: () => Promise<T>): Promise<T> =>
      database.requests.run('spec', () => {
        database.requests.isolate(level);
        return unitOfWork.run(work);
      });

    it.each([
      ['read-committed', 'read committed'],
      ['repeatable-read', 'repeatable read'],
      ['serializable', 'serializable'],
    ] as const)('%s is the level of the transaction', async (level, shown) => {
      expect(await at(level, () => statements.runOne(LEVEL, []))).toEqual({ transaction_isolation: shown });
    });

    it.each(['read-committed', 'repeatable-read', 'serializable'] as const)(
      '%s sees behind a lock what its last holder has written',
      async (level) => {
        let [goOn, tellHeld] = [(): void => undefined, (): void => undefined];
        const isReading = new Promise<void>((resolve) => (goOn = resolve));
        const isHeld = new Promise<void>((resolve) => (tellHeld = resolve));
        const holder = unitOfWork.run(async () => {
          await statements.run(LOCK, [7]);
          tellHeld();
          await isReading;
          await database.add('a');
        });
        await isHeld;
        const seen = at(level, async () => {
          // At levels with one snapshot for the whole transaction, this first read takes the snapshot.
          await database.findValue('a');
          goOn();
          await statements.run(LOCK, [7]);
          return database.findValue('a');
        });
        await holder;
        expect(await seen).toBe(1);
        expect(await statements.runOne(LOCKS, ['advisory'])).toEqual({ count: 0 });
      },
    );

    it('gives locks back after a failure too', async () => {
      const failing = at('serializable', async () => {
        await statements.run(LOCK, [7]);
        throw new Error('refused');
      });
      await expect(failing).rejects.toThrow('refused');
      expect(await statements.runOne(LOCKS, ['advisory'])).toEqual({ count: 0 });
    });

    it('takes many locks in one order, so that nobody waits in a circle', async () => {
      const keys = [3, 1, 2];
      await Promise.all(
        [keys, [...keys].reverse(), [2, 3, 1], [1, 2, 3]].map((mine) =>
          at('repeatable-read', async () => {
            for (const key of mine) await statements.run(LOCK, [key]);
            await database.add('a');
          }),
        ),
      );
      expect(await database.findValue('a')).toBe(4);
    });

    it('starts over what could not be serialized, and refuses it after the last try', async () => {
      let tries = 0;
      const conflicting = (times: number): Promise<string> =>
        at('serializable', async () => {
          await database.findValue('a');
          if (tries++ < times) await unitOfWork.outside(() => database.add('a'));
          await database.add('a', 10);
          return 'done';
        });
      expect([await conflicting(2), tries, await database.findValue('a')]).toEqual(['done', 3, 12]);
      tries = 0;
      await expect(conflicting(99)).rejects.toMatchObject({ kind: 'precondition-failed' });
      expect(tries).toBe(5);
    });
  });
});
