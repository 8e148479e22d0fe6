import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CounterDatabase } from '../support/counter-database';
import { ServerSetup } from '../../src/platform/database/server-setup';
import { type Statements } from '../../src/platform/database/statements';
import { type UnitOfWork } from '../../src/platform/database/unit-of-work';

describe(ServerSetup.name, () => {
  let database: CounterDatabase;
  let unitOfWork: UnitOfWork;
  let statements: Statements;

  beforeAll(async () => {
    database = await CounterDatabase.open();
    ({ unitOfWork, statements } = database);
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  const setup = (): ServerSetup => new ServerSetup(statements, unitOfWork);

  it('runs its work once per database', async () => {
    const work = (): Promise<void> => database.add('a');
    expect([await setup().once('one', work), await setup().once('one', work), await database.findValue('a')]).toEqual([
      true,
      false,
      1,
    ]);
  });

  it('runs its work once if several servers start together', async () => {
    const work = (): Promise<void> => database.add('a');
    const ran = await Promise.all(Array.from({ length: 4 }, () => setup().once('together', work)));
    expect([ran.filter(Boolean), await database.findValue('a')]).toEqual([[true], 1]);
  });

  it('repeats its work after a failure, which leaves no changes', async () => {
    const failing = setup().once('again', async () => {
      await database.add('a');
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    expect(await setup().once('again', () => Promise.resolve())).toBe(true);
    expect(await database.findValue('a')).toBe(0);
  });

  it('repeats its work once for all servers after its digest changed', async () => {
    const run = (digest: string): Promise<boolean> => setup().whenChanged('set', digest, () => database.add('a'));
    const first = await Promise.all([run('one'), run('one'), run('one')]);
    const second = [await run('one'), await run('two'), await run('two')];
    expect([first.filter(Boolean), second, await database.findValue('a')]).toEqual([[true], [false, true, false], 2]);
  });
});
