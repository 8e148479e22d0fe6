import { describe, expect, it } from '@jest/globals';
import { type RunningAttempt, freeLanes } from './lanes';

const NOW = 100_000;
const some = (count: number, attempt: RunningAttempt): RunningAttempt[] => Array<RunningAttempt>(count).fill(attempt);
const healthy = { isSuspect: false, startedAt: NOW, bytes: 40_000 };
const slow = { ...healthy, startedAt: NOW - 250 };
const suspect = { ...healthy, isSuspect: true, startedAt: NOW - 1999 };
const silent = { ...suspect, startedAt: NOW - 2000 };
const MIB = 1024 * 1024;

describe(freeLanes.name, () => {
  it.each<[string, RunningAttempt[], { healthy: boolean; suspect: boolean }]>([
    ['nothing runs', [], { healthy: true, suspect: true }],
    ['a quarter is suspect', some(4, suspect), { healthy: true, suspect: false }],
    ['three quarters are healthy', some(12, healthy), { healthy: false, suspect: true }],
    ['three quarters got slow', some(12, slow), { healthy: true, suspect: true }],
    ['many got slow', some(900, slow), { healthy: true, suspect: true }],
    [
      'many got slow, and slots are taken',
      [...some(900, slow), ...some(12, healthy)],
      { healthy: false, suspect: true },
    ],
    ['more got slow than have connections', some(1000, slow), { healthy: false, suspect: true }],
    ['more got slow than fit into memory', some(13, { ...slow, bytes: 5 * MIB }), { healthy: false, suspect: true }],
    ['as many got slow as there are slots', some(12, { ...slow, bytes: 8 * MIB }), { healthy: true, suspect: true }],
    ['many suspect ones are silent', some(200, silent), { healthy: true, suspect: true }],
    ['more are silent than have connections', some(250, silent), { healthy: true, suspect: false }],
    ['more are silent than fit into memory', some(5, { ...silent, bytes: 4 * MIB }), { healthy: true, suspect: false }],
  ])('of 16 slots: %s', (_case, running, free) => {
    expect(freeLanes(16, running, NOW)).toEqual(free);
  });

  it('has one slot for each lane where there is but one', () => {
    expect(freeLanes(1, [suspect], NOW)).toEqual({ healthy: true, suspect: false });
  });
});
