import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CpuBudget } from './cpu-budget';

let now: number;
let budget: CpuBudget;

beforeEach(() => {
  now = 1_000_000;
  budget = Object.assign(new CpuBudget(), { nowMs: () => now });
});

afterEach(() => {
  jest.useRealTimers();
});

/** Runs work of this duration, if the budget allows it. Returns whether it did. */
const isRun = (kind: unknown, milliseconds: number): boolean => {
  if (!budget.allows(kind)) return false;
  now += milliseconds;
  budget.spend(kind, milliseconds);
  return true;
};

describe(CpuBudget, () => {
  it('always allows quick work', () => {
    const kind = {};
    expect(Array.from({ length: 100 }, () => isRun(kind, 5)).every(Boolean)).toBe(true);
  });

  it('blocks slow work for a hundred times its excess time', () => {
    const kind = {};
    expect([isRun(kind, 250), isRun(kind, 250)]).toEqual([true, false]);
    now += 14_999; // one millisecond less than the wait, which is 100 times the 150 ms beyond the free 100 ms
    expect(isRun(kind, 250)).toBe(false);
    now += 1;
    expect(isRun(kind, 250)).toBe(true);
  });

  it('allows work that is slow only now and then, such as after a pause of the process', () => {
    const kind = {};
    for (let round = 0; round < 20; round++) {
      expect(isRun(kind, 50)).toBe(true);
      now += 10_000;
    }
  });

  it('spends at most a tenth of the time on slow work, however many kinds there are', () => {
    const kinds = Array.from({ length: 200 }, () => ({}));
    const startedAt = now;
    let worked = 0;
    while (now < startedAt + 1_000_000) {
      for (const kind of kinds) if (isRun(kind, 250)) worked += 250;
      now += 1_000;
    }
    expect(worked).toBeLessThanOrEqual((now - startedAt) / 10 + 1_250);
    expect(worked).toBeGreaterThan((now - startedAt) / 20);
  });

  it('S3: never blocks work that was never slow, however slow other work is', () => {
    for (const kind of Array.from({ length: 50 }, () => ({}))) isRun(kind, 250);
    expect(isRun('http://p.example/profile', 1)).toBe(true);
  });

  it('is independent of changes to the wall clock', async () => {
    const [hour, kinds] = [3_600_000, [{}, {}] as const];
    budget = new CpuBudget();
    jest.useFakeTimers({ doNotFake: ['performance', 'setTimeout'] });
    budget.spend(kinds[0], 101); // 1 ms beyond the free 100 ms: 100 ms to wait
    jest.setSystemTime(Date.now() - hour);
    await delay(110);
    expect(budget.allows(kinds[0])).toBe(true);
    budget.spend(kinds[1], 500);
    jest.setSystemTime(Date.now() + 2 * hour);
    expect(budget.allows(kinds[1])).toBe(false);
  });
});
