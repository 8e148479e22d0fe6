import { describe, expect, it } from '@jest/globals';
import { type RunningAttempt, freeLanes } from './lanes';

const NOW = 100_000;
const some = (count: number, attempt: RunningAttempt): RunningAttempt[] => Array<RunningAttempt>(count).fill(attempt);
const healthy = { isSuspect: false, startedAt: NOW };
const slow = { isSuspect: false, startedAt: NOW - 2000 };
const suspect = { isSuspect: true, startedAt: NOW - 20_000 };

describe(freeLanes.name, () => {
  it.each<[string, RunningAttempt[], { healthy: boolean; suspect: boolean }]>([
    ['nothing runs', [], { healthy: true, suspect: true }],
    ['a quarter is suspect', some(4, suspect), { healthy: true, suspect: false }],
    ['three quarters are healthy', some(12, healthy), { healthy: false, suspect: true }],
    ['three quarters got slow', some(12, slow), { healthy: true, suspect: true }],
    [
      'as many as there are slots got slow besides',
      [...some(17, slow), ...some(11, healthy)],
      { healthy: false, suspect: true },
    ],
  ])('of 16 slots: %s', (_case, running, free) => {
    expect(freeLanes(16, running, NOW)).toEqual(free);
  });

  it('has one slot for each lane where there is but one', () => {
    expect(freeLanes(1, [suspect], NOW)).toEqual({ healthy: true, suspect: false });
  });
});
