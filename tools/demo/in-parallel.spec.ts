import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { inParallel } from './in-parallel';

describe(inParallel, () => {
  it('processes every item once, never more than the limit at a time', async () => {
    const done: number[] = [];
    let atWork = 0;
    let mostAtWork = 0;
    await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      atWork += 1;
      mostAtWork = Math.max(mostAtWork, atWork);
      await turn();
      done.push(item);
      atWork -= 1;
    });
    expect(done).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(mostAtWork).toBe(3);
  });

  it('throws the first failure and begins nothing after it', async () => {
    const begun: number[] = [];
    const work = inParallel([1, 2, 3, 4, 5, 6, 7], 2, async (item) => {
      begun.push(item);
      await turn();
      if (item === 3) throw new Error('three is broken');
    });
    await expect(work).rejects.toThrow('three is broken');
    await turn();
    await turn();
    expect(begun).toEqual([1, 2, 3, 4]);
  });
});
