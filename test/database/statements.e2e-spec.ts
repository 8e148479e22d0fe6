import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { COUNTER_ADD, COUNTER_READ, CounterDatabase } from '../support/counter-database';
import { type Statement } from '../../src/platform/database/statement';
import { Statements } from '../../src/platform/database/statements';
import { TimeLimit } from '../../src/platform/database/time-limit';
import { type UnitOfWork } from '../../src/platform/database/unit-of-work';

const SLEEP: Statement = { name: 'sleep', text: 'select pg_sleep($1)' };

describe(Statements.name, () => {
  let database: CounterDatabase;
  let unitOfWork: UnitOfWork;
  let statements: Statements;

  beforeAll(async () => {
    database = await CounterDatabase.open();
    ({ unitOfWork, statements } = database);
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  it('reads 64-bit integers as numbers', async () => {
    await database.add('a', Number.MAX_SAFE_INTEGER);
    expect(await database.findValue('a')).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('returns undefined if there is no row', async () => {
    expect(await statements.runOne(COUNTER_READ, ['none'])).toBeUndefined();
  });

  it('prepares a statement once per connection', async () => {
    const prepared = await unitOfWork.run(async () => {
      await database.add('a');
      await database.add('b');
      return statements.run(
        { name: 'prepared', text: `select name from pg_prepared_statements where name = 'counter-add'` },
        [],
      );
    });
    expect(prepared).toEqual([{ name: 'counter-add' }]);
  });

  it('cancels a statement at its own time limit, and resets the limit of the connection', async () => {
    const sleep = statements.within(new TimeLimit(0.05, 'Too long.'), () => statements.run(SLEEP, [5]));
    await expect(sleep).rejects.toMatchObject({ kind: 'timeout', message: 'Too long.' });
    const limits = await Promise.all(
      Array.from({ length: 4 }, () => statements.runOne({ name: 'limit', text: 'show statement_timeout' }, [])),
    );
    expect([limits, await database.countInTransaction()]).toEqual([
      Array.from({ length: 4 }, () => ({ statement_timeout: '1min' })),
      0,
    ]);
  });

  it('returns the rows of a limited read, which cannot write', async () => {
    const limited = (statement: Statement, values: unknown[]): Promise<unknown> =>
      statements.within(new TimeLimit(5, ''), () => statements.run(statement, values));
    expect(await limited(COUNTER_READ, ['a'])).toEqual([{ value: 0 }]);
    await expect(limited(COUNTER_ADD, ['a', 1])).rejects.toMatchObject({ code: '25006' });
  });

  it('limits several statements together', async () => {
    const both = statements.within(new TimeLimit(0.2, 'Too long.'), async () => {
      await statements.run(SLEEP, [0.15]);
      return statements.run(SLEEP, [0.15]);
    });
    await expect(both).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('limits a read inside a transaction, which sees its own writes and keeps its usual limit afterwards', async () => {
    const show: Statement = { name: 'limit', text: 'show statement_timeout' };
    const seen = await unitOfWork.run(async () => {
      await database.add('a', 3);
      const value = await statements.within(new TimeLimit(5, ''), () => database.findValue('a'));
      return [value, await statements.runOne(show, [])];
    });
    expect(seen).toEqual([3, { statement_timeout: '1min' }]);
    const late = unitOfWork.run(() =>
      statements.within(new TimeLimit(0.05, 'Too long.'), () => statements.run(SLEEP, [5])),
    );
    await expect(late).rejects.toMatchObject({ kind: 'timeout', message: 'Too long.' });
  });
});
