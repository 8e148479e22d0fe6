import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { BACKGROUND } from '../admission/ticket';
import { TooCostly } from '../errors/too-costly';
import { RequestContext } from '../request/request-context';
import { Slices } from './slices';
import { type Steps } from './steps';

/** Work that takes this many slices, since each of its steps is longer than a slice. */
function* working(slices: number, trace: string[] = [], name = ''): Steps<number> {
  for (let slice = 0; slice < slices; slice++) {
    const end = performance.now() + 10;
    while (performance.now() < end);
    trace.push(name);
    yield;
  }
  return slices;
}

function* failing(): Steps<never> {
  yield* working(2);
  throw new Error('too deep');
}

describe(Slices.name, () => {
  it('completes short work at once', async () => {
    const slices = new Slices(new RequestContext());
    let isDone = false;
    void slices.run(working(0)).then(() => (isDone = true));
    await Promise.resolve();
    await Promise.resolve();
    expect(isDone).toBe(true);
  });

  it('yields to other tasks after each slice', async () => {
    const trace: string[] = [];
    const slices = new Slices(new RequestContext());
    const work = slices.run(working(5, trace, 'work'));
    for (let turn = 0; turn < 3; turn++) {
      await nextTurn();
      trace.push('other');
    }
    expect(await work).toBe(5);
    expect(trace.filter((name) => name === 'other')).toHaveLength(3);
    expect(trace.join(' ')).not.toContain('work work work');
  });

  it('S23: alternates between callers after each slice, also after a task that failed', async () => {
    const trace: string[] = [];
    const requests = new RequestContext();
    const slices = new Slices(requests);
    const calledBy = (caller: string, steps: Steps<unknown>): Promise<unknown> => {
      jest.spyOn(requests, 'ticket', 'get').mockReturnValueOnce({ ...BACKGROUND, caller });
      return slices.run(steps);
    };
    const ended = await Promise.allSettled([
      calledBy('a', working(4, trace, 'a')),
      calledBy('a', working(4, trace, 'A')),
      calledBy('b', failing()),
      calledBy('c', working(2, trace, 'c')),
    ]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    // The first slice of each task begins at once. After it, the callers take turns: the second slice of caller c does
    // not wait until both tasks of caller a have ended.
    expect(trace.slice(0, 3)).toEqual(['a', 'A', 'c']);
    expect(trace.lastIndexOf('c')).toBeLessThan(trace.lastIndexOf('A'));
  });

  it('S23: stops when the client disconnects', async () => {
    const trace: string[] = [];
    const requests = new RequestContext();
    const controller = new AbortController();
    jest.spyOn(requests, 'ticket', 'get').mockReturnValue({ ...BACKGROUND, signal: controller.signal });
    const run = new Slices(requests).run(working(50, trace));
    await nextTurn();
    controller.abort(new Error('gone'));
    await expect(run).rejects.toThrow('gone');
    expect(trace.length).toBeLessThan(5);
  });

  it('retries a step once that took too long', async () => {
    const slices = new Slices(new RequestContext());
    let tries = 0;
    const slowAtFirst = function* (): Steps<string> {
      yield;
      if (++tries === 1) for (;;);
      return 'done';
    };
    await expect(slices.runLimited(slowAtFirst, { ofOne: 20, ofAll: 1_000 })).resolves.toBe('done');
  });

  it('extends the limit of a step twice while another process uses the CPU', async () => {
    const slices = new Slices(new RequestContext());
    const cpuUsage = jest.spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 });
    const slow = function* (): Steps<string> {
      yield;
      const end = performance.now() + 150;
      while (performance.now() < end);
      return 'done';
    };
    const begin = jest.fn(slow);
    try {
      await expect(slices.runLimited(begin, { ofOne: 10, ofAll: 1_000 })).resolves.toBe('done');
      expect(begin).toHaveBeenCalledTimes(3);
    } finally {
      cpuUsage.mockRestore();
    }
  });

  it('S3: interrupts a step that takes too long', async () => {
    const slices = new Slices(new RequestContext());
    const endless = function* (): Steps<never> {
      yield;
      for (;;);
    };
    await expect(slices.runLimited(endless, { ofOne: 20, ofAll: 1_000 })).rejects.toThrow(TooCostly);
    await expect(slices.runLimited(() => working(50), { ofOne: 100, ofAll: 50 })).rejects.toThrow(TooCostly);
  });
});
