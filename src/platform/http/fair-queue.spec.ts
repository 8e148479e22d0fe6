import { describe, expect, it } from '@jest/globals';
import { FairQueue } from './fair-queue';

const queueOf = (...items: string[]): FairQueue<string> => {
  const queue = new FairQueue<string>();
  for (const item of items) queue.add(item.charAt(0), item);
  return queue;
};

const taken = (queue: FairQueue<string>): (string | undefined)[] =>
  Array.from({ length: queue.size + 1 }, () => queue.take());

describe(FairQueue, () => {
  it('lets callers take turns, and each of their items keeps its place', () => {
    expect(taken(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  });

  it('puts a caller who comes anew behind those who wait', () => {
    const queue = queueOf('a1', 'b1');
    expect(queue.take()).toBe('a1');
    queue.add('a', 'a2');
    expect(taken(queue)).toEqual(['b1', 'a2', undefined]);
  });

  it.each([
    ['another caller', 'c', 'a3', 4],
    ['who has one fewer', 'b', undefined, 5],
    ['whose line it is', 'a', undefined, 5],
  ])('takes the last of the longest line for %s', (_who, caller, item, left) => {
    const queue = queueOf('a1', 'a2', 'b1', 'a3', 'b2');
    expect([queue.takeFromLongest(caller), queue.size]).toEqual([item, left]);
  });
});
