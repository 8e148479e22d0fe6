import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../errors/service-error';
import { Slices } from './slices';
import { type Steps } from './steps';

/** Works for as many slices, since each step takes longer than one. */
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
  it('does what is short at once', async () => {
    const slices = new Slices();
    let isDone = false;
    void slices.run(working(0)).then(() => (isDone = true));
    await Promise.resolve();
    await Promise.resolve();
    expect(isDone).toBe(true);
  });

  it('lets others have their turn after each slice', async () => {
    const trace: string[] = [];
    const slices = new Slices();
    const work = slices.run(working(5, trace, 'work'));
    for (let turn = 0; turn < 3; turn++) {
      await nextTurn();
      trace.push('other');
    }
    expect(await work).toBe(5);
    expect(trace.filter((name) => name === 'other')).toHaveLength(3);
    expect(trace.join(' ')).not.toContain('work work work');
  });

  it('finishes one after the other, whatever one ends with', async () => {
    const trace: string[] = [];
    const slices = new Slices();
    const ended = await Promise.allSettled([
      slices.run(working(3, trace, 'a')),
      slices.run(failing()),
      slices.run(working(3, trace, 'b')),
    ]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    // The first slice of each is tried at once.
    expect(trace).toEqual(['a', 'b', 'a', 'a', 'b', 'b']);
  });

  it('refuses when too many wait', async () => {
    const slices = new Slices();
    const waiting = Array.from({ length: 33 }, () => slices.run(working(2)));
    const ended = await Promise.allSettled(waiting);
    const refused = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
    expect(refused).toEqual([expect.any(ServiceError)]);
    expect(refused[0]).toMatchObject({ kind: 'busy', details: { retryAfterSeconds: 5 } });
  });
});
