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

  it('commits statements and repositories together, and returns the result', async () => {
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

  it('rolls back everything when the work fails, and rejects with the same error', async () => {
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

  it('is invisible to others until it commits', async () => {
    const seen = await unitOfWork.run(async () => {
      await database.add('a');
      const [row] = await dataSource.query<[{ value: string }]>(`select value from counter where name = 'a'`);
      return [await database.findValue('a'), row.value];
    });
    expect(seen).toEqual([1, '0']);
  });

  it('shows only committed data to work outside of it', async () => {
    const seen = await unitOfWork.run(async () => {
      await database.add('a');
      return [await unitOfWork.outside(() => database.findValue('a')), await database.findValue('a')];
    });
    expect(seen).toEqual([0, 1]);
  });

  it('does not include work outside of its request', async () => {
    const [inside, outside] = await unitOfWork.run(async () => [await pid(), await Ambient.outside(pid)]);
    expect(outside).not.toBe(inside);
  });

  it('is joined by a nested run, on the same connection', async () => {
    const [outer, inner, after] = await unitOfWork.run(async () => [
      await pid(),
      await unitOfWork.run(async () => pid()),
      await pid(),
    ]);
    expect([inner, after]).toEqual([outer, outer]);
  });

  it('rolls back a nested run when the outer work fails later', async () => {
    const work = unitOfWork.run(async () => {
      await unitOfWork.run(() => database.add('a'));
      throw new Error('refused');
    });
    await expect(work).rejects.toThrow('refused');
    expect(await database.findValue('a')).toBe(0);
  });

  it('is not shared by concurrent runs', async () => {
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

  it('is open only during the work', async () => {
    const states = [unitOfWork.isOpen, await unitOfWork.run(() => Promise.resolve(unitOfWork.isOpen))];
    expect([...states, unitOfWork.isOpen, unitOfWork.client]).toEqual([false, true, false, undefined]);
    expect(unitOfWork.bind(counters)).toBe(counters);
  });

  it('retries after a deadlock until both transactions commit', async () => {
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

  it('fails after five conflicts', async () => {
    let tries = 0;
    const work = unitOfWork.run(async () => {
      tries++;
      await database.add('a');
      throw new TransactionConflict('always');
    });
    await expect(work).rejects.toThrow(TransactionConflict);
    expect([tries, await database.findValue('a')]).toEqual([5, 0]);
  });

  it('does not retry after any other error', async () => {
    let tries = 0;
    const work = unitOfWork.run(async () => {
      tries++;
      return unitOfWork.bind(counters).insert({ name: 'a', value: 1 });
    });
    await expect(work).rejects.toMatchObject({ driverError: { code: '23505' } });
    expect(tries).toBe(1);
  });

  it('fails with a conflict if PostgreSQL has aborted the transaction', async () => {
    const work = unitOfWork.run(async () => {
      await database.add('a');
      await statements.run({ name: 'broken', text: 'select 1 / 0' }, []).catch(() => undefined);
    });
    await expect(work).rejects.toThrow(TransactionConflict);
    expect(await database.findValue('a')).toBe(0);
  });

  it('rejects when its connection breaks, and logs no error', async () => {
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
    it('opens no transaction, and retries after a conflict', async () => {
      const opened: boolean[] = [];
      await unitOfWork.alone(async () => {
        opened.push(unitOfWork.isOpen);
        await database.add('a');
        if (opened.length === 1) throw new TransactionConflict('once');
      });
      expect([opened, await database.findValue('a')]).toEqual([[false, false], 2]);
    });

    it('joins the open transaction, which is retried as a whole', async () => {
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
    it('commits with the last statements, and returns their results', async () => {
      const found = await unitOfWork.run(async (finish) => {
        const [, value] = await finish([database.add('a'), database.findValue('a')]);
        return [value, await unitOfWork.outside(() => database.findValue('a'))];
      });
      expect([found, await database.countInTransaction()]).toEqual([[1, 1], 0]);
    });

    it('rolls back everything when a statement fails, and rejects with the first error', async () => {
      const failing = (column: string): Promise<unknown> =>
        statements.run({ name: column, text: `select ${column}` }, []);
      const work = unitOfWork.run(async (finish) => {
        await database.add('a');
        return finish([database.add('a'), failing('no_such_column'), failing('nor_this_one')]);
      });
      await expect(work).rejects.toThrow('no_such_column');
      expect([await database.findValue('a'), await database.countInTransaction()]).toEqual([0, 0]);
    });

    it('leaves the COMMIT to the outer run', async () => {
      const work = unitOfWork.run(async () => {
        await unitOfWork.run((finish) => finish([database.add('a')]));
        expect(await unitOfWork.outside(() => database.findValue('a'))).toBe(0);
        throw new Error('refused');
      });
      await expect(work).rejects.toThrow('refused');
      expect(await database.findValue('a')).toBe(0);
    });

    it('refuses to finish while gathered items are not flushed', async () => {
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

    it('flushes the items of a key once, at the end, ordered by the first item of each key', async () => {
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

    it('flushes contended items last', async () => {
      const log: string[] = [];
      await unitOfWork.run(async () => {
        unitOfWork.gather(key, 1, () => Promise.resolve(void log.push('last')), true);
        unitOfWork.gather(Symbol('first'), 1, () => Promise.resolve(void log.push('first')));
        await Promise.resolve();
      });
      expect(log).toEqual(['first', 'last']);
    });

    it('flushes inside the transaction, and then flushes items that a flush gathered', async () => {
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

    it('rolls back everything when a flush fails', async () => {
      const work = unitOfWork.run(async () => {
        unitOfWork.gather(key, 1, () => Promise.reject(new Error('refused')));
        await database.add('a');
      });
      await expect(work).rejects.toThrow('refused');
      expect(await database.findValue('a')).toBe(0);
    });

    it('starts empty when the work is retried', async () => {
      const flushed: unknown[] = [];
      let tries = 0;
      await unitOfWork.run(async () => {
        unitOfWork.gather(key, ++tries, (items) => Promise.resolve(void flushed.push(items)));
        await Promise.resolve();
        if (tries === 1) throw new TransactionConflict('once');
      });
      expect(flushed).toEqual([[2]]);
    });

    it('requires an open transaction', () => {
      expect(() => {
        unitOfWork.gather(key, 1, () => Promise.resolve());
      }).toThrow('open unit of work');
    });
  });

  describe('afterCommit', () => {
    it('runs an action after the commit, outside the transaction', async () => {
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

    it('runs an action at once if no transaction is open', async () => {
      expect(
        await new Promise((resolve) => {
          unitOfWork.afterCommit(() => {
            resolve('acted');
          });
        }),
      ).toBe('acted');
    });

    it('runs the actions of the successful try only, and none of failed work', async () => {
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
    ])('runs an action before the %s run returns, when the connection is free', async (_how, end, value) => {
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

    it('runs an action at once if no transaction is open', async () => {
      const acted: boolean[] = [];
      await unitOfWork.whenOver(() => acted.push(unitOfWork.isOpen));
      expect(acted).toEqual([false]);
    });

    it('keeps the outcome of the work when an action fails', async () => {
      const work = unitOfWork.run(async () => {
        await unitOfWork.whenOver(() => {
          throw new Error('not stored');
        });
        throw new Error('refused');
      });
      await expect(work).rejects.toThrow('refused');
    });
  });

  describe('at the isolation level of the request', () => {
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
    ] as const)('%s: uses this level for the transaction', async (level, shown) => {
      expect(await at(level, () => statements.runOne(LEVEL, []))).toEqual({ transaction_isolation: shown });
    });

    it.each(['read-committed', 'repeatable-read', 'serializable'] as const)(
      '%s: reads after a lock the changes of the previous lock holder',
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

    it('releases locks after a failure too', async () => {
      const failing = at('serializable', async () => {
        await statements.run(LOCK, [7]);
        throw new Error('refused');
      });
      await expect(failing).rejects.toThrow('refused');
      expect(await statements.runOne(LOCKS, ['advisory'])).toEqual({ count: 0 });
    });

    it('takes several locks in one order, so that transactions do not deadlock', async () => {
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

    it('retries after a serialization failure, and rejects as precondition-failed after the last try', async () => {
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
