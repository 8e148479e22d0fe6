import { describe, expect, it } from '@jest/globals';
import { type Arrival } from './faulty-receiver';
import { isAnsweredLate, repeatsWithoutCrash } from './repeats';

const arrival = (at: number, isAnswered = true): Arrival => ({
  destination: 'd1',
  batchId: 'b',
  bodyHash: '',
  generation: '',
  at,
  events: [{ number: 7, key: 'Patient/p/1' }],
  isAnswered,
});
const crash = (at: number, endedAt = at) => ({ kind: 'SIGTERM', at, endedAt }) as const;
const ARRIVALS = [arrival(10_000), arrival(20_000)];

describe('A batch that arrived again after a 2xx (I9)', () => {
  it('is no repeat if the first response was not written', () => {
    expect(repeatsWithoutCrash([arrival(10_000, false), arrival(20_000)], [])).toEqual([]);
  });

  it('is explained by a crash that lasted until 3 s before the first arrival, and by none after the second', () => {
    expect(repeatsWithoutCrash(ARRIVALS, [crash(8000)])).toEqual([]);
    expect(repeatsWithoutCrash(ARRIVALS, [crash(2000, 8000)])).toEqual([]);
    expect(repeatsWithoutCrash(ARRIVALS, [crash(2000), crash(20_001)])).toHaveLength(1);
  });

  it.each([
    ['between both arrivals', { destination: 'd1', firstNumber: 7, endedAt: 12_000 }, true],
    ['before the answer', { destination: 'd1', firstNumber: 7, endedAt: 9000 }, false],
    ['after the second arrival', { destination: 'd1', firstNumber: 7, endedAt: 21_000 }, false],
    ['of another batch', { destination: 'd1', firstNumber: 8, endedAt: 12_000 }, false],
    ['of another destination', { destination: 'd2', firstNumber: 7, endedAt: 12_000 }, false],
  ])('was answered late only by its own time-out: one %s', (_case, timeOut, expected) => {
    const [repeat] = repeatsWithoutCrash(ARRIVALS, []);
    expect(repeat && isAnsweredLate(repeat, [timeOut])).toBe(expected);
  });
});
