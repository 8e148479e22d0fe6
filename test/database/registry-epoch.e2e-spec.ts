import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CounterDatabase } from '../support/counter-database';
import { type RequestContext } from '../../src/platform/request/request-context';
import { CachedRegistry, RegistryEpoch, assertRightsSql } from '../../src/platform/database/registry-epoch';
import { type Statement } from '../../src/platform/database/statement';
import { TimeLimit } from '../../src/platform/database/time-limit';
import { type Epochs } from '../../src/platform/request/epochs';
import { type Statements } from '../../src/platform/database/statements';
import { type UnitOfWork } from '../../src/platform/database/unit-of-work';

describe(RegistryEpoch.name, () => {
  let database: CounterDatabase;
  let unitOfWork: UnitOfWork;
  let statements: Statements;
  let requests: RequestContext;

  beforeAll(async () => {
    database = await CounterDatabase.open();
    ({ unitOfWork, statements, requests } = database);
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  const newEpoch = (): RegistryEpoch => new RegistryEpoch(statements, unitOfWork, requests);
  const current = (): Promise<Epochs> => newEpoch().current();

  it('rises once per transaction, however many changes it contains', async () => {
    const epoch = newEpoch();
    const before = await current();
    await unitOfWork.run(() => {
      epoch.raise();
      epoch.raise();
      return Promise.resolve();
    });
    expect(await current()).toEqual({ registries: before.registries + 1, rights: before.rights + 1 });
  });

  it('rises only for rights if no registry changed', async () => {
    const epoch = newEpoch();
    const before = await current();
    await unitOfWork.run(() => {
      epoch.raise('rights');
      return Promise.resolve();
    });
    expect(await current()).toEqual({ ...before, rights: before.rights + 1 });
    await unitOfWork.run(() => {
      epoch.raise('rights');
      epoch.raise();
      return Promise.resolve();
    });
    expect(await current()).toEqual({ registries: before.registries + 1, rights: before.rights + 2 });
  });

  it('rises at the end of a transaction; until then isReadAnew is true and rightsToHold() returns null', async () => {
    const epoch = newEpoch();
    const seen: unknown[] = [];
    await unitOfWork.run(() => {
      epoch.raise();
      unitOfWork.gather(Symbol('later'), 1, async () => {
        seen.push(epoch.isReadAnew, await epoch.rightsToHold(), await current());
      });
      return Promise.resolve();
    });
    const { registries, rights } = await current();
    expect(seen).toEqual([true, null, { registries: registries - 1, rights: rights - 1 }]);
    expect([epoch.isReadAnew, await epoch.rightsToHold()]).toEqual([false, rights]);
  });

  it('makes a statement that asserts older rights fail with a conflict; the retry asserts none', async () => {
    const epoch = newEpoch();
    const assertion: Statement = { name: 'assert-rights', text: `select ${assertRightsSql('$1::bigint')} as checked` };
    const tried: (number | null)[] = [];
    const { rights } = await current();
    await requests.run('request', async () => {
      requests.identify({ clientId: 'root' }, { registries: 1, rights: rights - 1 });
      await unitOfWork.run(async () => {
        tried.push(await epoch.rightsToHold());
        await statements.run(assertion, [tried.at(-1)]);
      });
      expect((await epoch.current()).rights).toBe(rights);
    });
    expect(tried).toEqual([rights - 1, null]);
  });

  it('does not rise if the transaction fails', async () => {
    const before = await current();
    const failing = unitOfWork.run(() => {
      newEpoch().raise();
      return Promise.reject(new Error('refused'));
    });
    await expect(failing).rejects.toThrow('refused');
    expect(await current()).toEqual(before);
  });

  it('stays the same during a request: the value that was read with the caller', async () => {
    const seen = await requests.run('request', () => {
      requests.identify({ clientId: 'root' }, { registries: 4711, rights: 4712 });
      return current();
    });
    expect(seen).toEqual({ registries: 4711, rights: 4712 });
  });

  describe(CachedRegistry.name, () => {
    const rise = (): Promise<void> =>
      unitOfWork.run(() => {
        newEpoch().raise();
        return Promise.resolve();
      });

    it('loads once until the epoch rises', async () => {
      let loads = 0;
      const registry = new CachedRegistry(newEpoch(), () => Promise.resolve(++loads));
      const first = await Promise.all([registry.get(), registry.get(), registry.get()]);
      await rise();
      expect([first, await registry.get(), await registry.get()]).toEqual([[1, 1, 1], 2, 2]);
    });

    it('returns the newer value to a request that began before the epoch rose', async () => {
      let loads = 0;
      const registry = new CachedRegistry(newEpoch(), () => Promise.resolve(++loads));
      const old = await current();
      await rise();
      await registry.get();
      const seen = await requests.run('request', () => {
        requests.identify({ clientId: 'root' }, old);
        return registry.get();
      });
      expect([seen, loads]).toEqual([1, 1]);
    });

    it('loads without the time limit of the request that starts the load, since others wait for the value too', async () => {
      const slow: Statement = { name: 'slow-load', text: 'select 1 from pg_sleep(0.3)' };
      const registry = new CachedRegistry(newEpoch(), () => statements.run(slow, []));
      expect(await statements.within(new TimeLimit(0.1, 'too slow'), () => registry.get())).toHaveLength(1);
    });

    it('loads on the connection of a transaction, and does not cache a value that was read there', async () => {
      const registry = new CachedRegistry(newEpoch(), () => database.findValue('a'));
      await database.add('a');
      const before = await registry.get();
      await rise();
      const seen = unitOfWork.run(async () => {
        await database.add('a');
        const value = await registry.get();
        throw new Error(`rolled back ${String(value)}`);
      });
      await expect(seen).rejects.toThrow('rolled back 2');
      expect([before, await registry.get()]).toEqual([1, 1]);
    });

    it('loads once per transaction', async () => {
      let loads = 0;
      const registry = new CachedRegistry(newEpoch(), () => Promise.resolve(++loads));
      await registry.get();
      await rise();
      const seen = await unitOfWork.run(async () => [await registry.get(), await registry.get(), await registry.get()]);
      expect([seen, await registry.get()]).toEqual([[2, 2, 2], 3]);
      const again = await unitOfWork.run(() => registry.get());
      expect(again).toBe(3);
    });

    it('loads without a second connection, so that transactions that fill the pool finish', async () => {
      const registry = new CachedRegistry(newEpoch(), () => database.findValue('a'));
      const writes = Array.from({ length: 12 }, () =>
        unitOfWork.run(async () => {
          await database.add('b');
          return registry.get();
        }),
      );
      expect(await Promise.all(writes)).toEqual(Array(12).fill(0));
    });

    it('retries after a failed load', async () => {
      let loads = 0;
      const registry = new CachedRegistry(newEpoch(), () =>
        ++loads === 1 ? Promise.reject(new Error('unreachable')) : Promise.resolve('loaded'),
      );
      await expect(registry.get()).rejects.toThrow('unreachable');
      expect(await registry.get()).toBe('loaded');
    });
  });
});
