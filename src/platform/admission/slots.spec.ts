import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Held, Slots, type SlotsOptions } from './slots';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs named tasks until they are ended. The first letter of a task's name is its caller. */
class Tasks {
  readonly began: string[] = [];
  /** The result of each task, by its name: "done", or why it was refused. */
  readonly outcomes: Record<string, string> = {};
  readonly slots: Slots;
  private readonly ends: (() => void)[] = [];

  constructor(options: Partial<SlotsOptions>) {
    this.slots = new Slots({ permits: 1, busyMessage: 'busy', ...options });
  }

  arrive(...names: string[]): void {
    for (const name of names) this.arriveWith(name, undefined);
  }

  arriveWith(name: string, signal: AbortSignal | undefined): void {
    const task = async (): Promise<void> => {
      this.began.push(name);
      await new Promise<void>((resolve) => this.ends.push(resolve));
    };
    this.slots.run({ caller: name.charAt(0), ...(signal === undefined ? {} : { signal }) }, task).then(
      () => (this.outcomes[name] = 'done'),
      (error: unknown) => (this.outcomes[name] = (error as Error).message),
    );
  }

  /** Ends `count` tasks one after the other, in the order in which they began. */
  async end(count: number): Promise<void> {
    await settled();
    for (let ended = 0; ended < count; ended++) {
      this.ends.shift()?.();
      await settled();
    }
  }
}

describe(Slots, () => {
  it('runs as many tasks as there are permits, and hands each permit to the next task', async () => {
    const tasks = new Tasks({ permits: 2 });
    tasks.arrive('a1', 'a2', 'a3', 'a4');
    await settled();
    expect(tasks.began).toEqual(['a1', 'a2']);
    expect([tasks.slots.inUse, tasks.slots.waiting]).toEqual([2, 2]);
    await tasks.end(4);
    expect(tasks.outcomes).toEqual({ a1: 'done', a2: 'done', a3: 'done', a4: 'done' });
    expect([tasks.slots.inUse, tasks.slots.waiting]).toEqual([0, 0]);
  });

  it('S15: serves callers in rotation, however many tasks one caller queues', async () => {
    const tasks = new Tasks({});
    tasks.arrive('a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2');
    await tasks.end(7);
    expect(tasks.began).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('S15: leaves permits to other callers when a caller has reached its limit', async () => {
    const tasks = new Tasks({ permits: 3, perCaller: 2 });
    tasks.arrive('a1', 'a2', 'a3', 'b1');
    await settled();
    expect(tasks.began).toEqual(['a1', 'a2', 'b1']);
    await tasks.end(1);
    expect(tasks.began).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('limits only each caller if the number of permits is unbounded', async () => {
    const tasks = new Tasks({ permits: Infinity, perCaller: 1 });
    tasks.arrive('a1', 'a2', 'b1', 'c1');
    await settled();
    expect(tasks.began).toEqual(['a1', 'b1', 'c1']);
    await tasks.end(1);
    expect(tasks.began).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('hands the permit to the next task after a failure', async () => {
    const slots = new Slots({ permits: 1 });
    const failed = slots.run({ caller: 'a' }, () => Promise.reject(new Error('no')));
    const next = slots.run({ caller: 'a' }, () => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('releases the permit of the caller who took it, if the caller is identified meanwhile', async () => {
    const slots = new Slots({ permits: Infinity, perCaller: 1, longestWaitMilliseconds: 10 });
    const waiter = { caller: 'an address' };
    await slots.run(waiter, () => {
      waiter.caller = 'User/1';
      return Promise.resolve();
    });
    await expect(slots.run({ caller: 'an address' }, () => Promise.resolve('free'))).resolves.toBe('free');
  });

  it('refuses the last task of the longest queue when too many tasks wait', async () => {
    const tasks = new Tasks({ mostWaiting: 4 });
    tasks.arrive('a0', 'a1', 'a2', 'a3', 'a4', 'a5');
    await settled();
    expect(tasks.outcomes).toEqual({ a5: 'busy' });
    tasks.arrive('b1', 'b2', 'b3');
    await settled();
    expect(tasks.outcomes).toEqual({ a5: 'busy', a4: 'busy', a3: 'busy', b3: 'busy' });
    await tasks.end(5);
    expect(tasks.began).toEqual(['a0', 'a1', 'b1', 'a2', 'b2']);
  });

  it('removes a task from the queue when its signal aborts, and rejects with the reason', async () => {
    const tasks = new Tasks({});
    const client = new AbortController();
    tasks.arrive('a1');
    tasks.arriveWith('a2', client.signal);
    tasks.arrive('a3');
    await settled();
    client.abort(new Error('gone'));
    tasks.arriveWith('a4', client.signal);
    await tasks.end(2);
    expect(tasks.outcomes).toEqual({ a1: 'done', a2: 'gone', a3: 'done', a4: 'gone' });
    expect(tasks.began).toEqual(['a1', 'a3']);
  });

  describe('with a longest wait', () => {
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it('S15: refuses a task as busy, with Retry-After, after the longest wait', async () => {
      const tasks = new Tasks({ longestWaitMilliseconds: 30_000, retryAfterSeconds: 2 });
      tasks.arrive('a1', 'a2');
      const refused = expect(tasks.slots.take({ caller: 'b' })).rejects.toMatchObject({
        ...{ kind: 'busy', message: 'busy', details: { retryAfterSeconds: 2 } },
      });
      await settled();
      jest.advanceTimersByTime(29_999);
      await settled();
      expect([tasks.outcomes, tasks.slots.waiting]).toEqual([{}, 2]);
      jest.advanceTimersByTime(1);
      await refused;
      expect([tasks.outcomes, tasks.slots.waiting]).toEqual([{ a2: 'busy' }, 0]);
    });
  });

  describe('of bytes', () => {
    const bytes = (): Slots => new Slots({ permits: 100, perCaller: 60, reserved: 1 / 5, busyMessage: 'busy' });

    /** Takes permits for named tasks. `got` has the names in the order in which the tasks got their permits. */
    function taking(slots: Slots): {
      got: string[];
      held: Map<string, Held>;
      take: (name: string, weight: number) => void;
    } {
      const [got, held] = [[] as string[], new Map<string, Held>()];
      const take = (name: string, weight: number): void => {
        void slots.take({ caller: name.charAt(0) }, weight).then((permits) => {
          got.push(name);
          held.set(name, permits);
        });
      };
      return { got, held, take };
    }

    it('S1: do not let small tasks overtake a large one forever', async () => {
      const { got, held, take } = taking(bytes());
      take('a1', 45);
      take('b1', 45);
      take('c1', 10);
      await settled();
      expect(got).toEqual(['a1']);
      held.get('a1')?.shrinkTo(20);
      await settled();
      expect(got).toEqual(['a1', 'b1', 'c1']);
    });

    it('S1: serve other callers while one caller is at its limit', async () => {
      const { got, held, take } = taking(bytes());
      take('a1', 40);
      take('a2', 20);
      take('b1', 30);
      await settled();
      expect(got).toEqual(['a1', 'b1']);
      held.get('a1')?.release();
      held.get('a1')?.release();
      await settled();
      expect(got).toEqual(['a1', 'b1', 'a2']);
    });

    it('S1: admit a task that is larger than the limit of a caller, and reduce it to that limit', async () => {
      const slots = bytes();
      const { got, take } = taking(slots);
      take('a1', 1000);
      await settled();
      expect([got, slots.inUse]).toEqual([['a1'], 48]);
    });

    it('S1: keep a reserve for tasks that cannot wait, and refuse such tasks beyond the reserve or the limit', async () => {
      const slots = bytes();
      const { got, take } = taking(slots);
      take('a1', 48);
      take('b1', 32);
      take('c1', 1);
      await settled();
      expect(got).toEqual(['a1', 'b1']);
      slots.takeNow('a', 12);
      expect(() => slots.takeNow('a', 1)).toThrow('busy');
      slots.takeNow('d', 8);
      expect(() => slots.takeNow('d', 1)).toThrow('busy');
    });
  });
});
