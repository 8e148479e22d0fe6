import { describe, expect, it } from '@jest/globals';
import { stepsOf } from './steps';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 31, 10, 0, 0) + seconds * 1000).toISOString();

describe(stepsOf.name, () => {
  it('lists the commit, each attempt, the delivery, and later replays', () => {
    const steps = stepsOf({
      ...{ state: 'delivered', number: 4, recorded: at(0), batched: at(1), delivered: at(9), attempts: 3 },
      attempt: [
        { ended: at(3), durationMilliseconds: 20, delivered: false, outcome: 'HTTP 503' },
        { ended: at(9), durationMilliseconds: 7, delivered: true, outcome: 'HTTP 200' },
        { ended: at(60), durationMilliseconds: 7, delivered: true, replay: true, outcome: 'HTTP 200' },
      ],
    });
    expect(steps.map(({ name, tone, outcome, after }) => [name, tone, outcome, after])).toEqual([
      ['Committed with its write', 'neutral', undefined, undefined],
      ['Taken into a notification', 'neutral', undefined, 1000],
      ['Attempt 1', 'bad', 'HTTP 503', 2000],
      ['Attempt 2', 'good', 'HTTP 200', 6000],
      ['Delivered', 'good', undefined, 0],
      ['Sent again', 'good', 'HTTP 200', 51_000],
    ]);
  });

  it('counts attempts that are not listed, and names the cause of a wait', () => {
    const failed = { ended: at(2), delivered: false, outcome: 'The outcome is unknown' };
    const steps = stepsOf({ state: 'in-process', recorded: at(0), batched: at(1), attempts: 41, attempt: [failed] });
    expect(steps.map(({ name }) => name).slice(2)).toEqual([
      '40 earlier attempts failed',
      'Attempt 41',
      'Waits for the next attempt',
    ]);
    expect(stepsOf({ state: 'queued', recorded: at(0), attempts: 0, attempt: [] }).map(({ name }) => name)).toEqual([
      'Committed with its write',
      'Waits for those before it',
    ]);
  });
});
