import { describe, expect, it } from '@jest/globals';
import { KeyedSemaphore } from './keyed-semaphore';

describe(KeyedSemaphore, () => {
  /** Tasks that end when the spec ends them. */
  function works(): { start: () => Promise<string>; ends: (() => void)[] } {
    const ends: (() => void)[] = [];
    return {
      ends,
      start: () =>
        new Promise((resolve) => {
          ends.push(() => {
            resolve('done');
          });
        }),
    };
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('runs as many tasks as the limit allows, and passes each permit on', async () => {
    const [turns, { start, ends }] = [new KeyedSemaphore(2, 10), works()];
    const all = Array.from({ length: 5 }, () => turns.run('key', start));
    expect(ends).toHaveLength(2);
    for (let index = 0; index < 5; index++) {
      ends[index]?.();
      await settled();
    }
    expect(await Promise.all(all)).toEqual(Array(5).fill('done'));
  });

  it('keeps keys apart', () => {
    const [turns, { start, ends }] = [new KeyedSemaphore(1), works()];
    void turns.run('one', start);
    void turns.run('other', start);
    expect(ends).toHaveLength(2);
  });

  it('refuses a task when its queue is full', async () => {
    const [turns, { start }] = [new KeyedSemaphore(1, 1, () => new Error('full')), works()];
    void turns.run('key', start);
    void turns.run('key', start);
    await expect(turns.run('key', start)).rejects.toThrow('full');
  });

  it('goes on after a failure', async () => {
    const turns = new KeyedSemaphore(1);
    const failed = turns.run('key', () => Promise.reject(new Error('no')));
    const next = turns.run('key', () => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
