import { describe, expect, it } from '@jest/globals';
import { WriteLog } from './writers';

describe(WriteLog, () => {
  it('finds an acknowledged write that a failover lost, although its version number is stored again', () => {
    const log = new WriteLog();
    for (const key of ['Patient/p1/1', 'Patient/p1/2', 'Patient/p2/1', 'Patient/p1/2']) log.acknowledge('a', key);
    expect([...log.acknowledgedAgain]).toEqual(['Patient/p1/2']);
  });

  it('gives each write another value, so that no version is acknowledged twice for one content', () => {
    const log = new WriteLog();
    expect(new Set([log.nextValue(), log.nextValue(), log.nextValue()]).size).toBe(3);
  });
});
