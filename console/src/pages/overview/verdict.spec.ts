import { describe, expect, it } from '@jest/globals';
import { verdictOf } from './verdict';

type Status = Parameters<typeof verdictOf>[0];

const status = (health: Status['health']['status'], delivery?: Partial<NonNullable<Status['delivery']>>): Status => ({
  health: { status: health, description: `It is ${health}.`, databaseMilliseconds: 1 },
  ...(delivery === undefined
    ? {}
    : { delivery: { destinations: 4, failing: 0, queued: 0, inProcess: 0, ...delivery } }),
});

describe(verdictOf, () => {
  it.each<[string, Status]>([
    ['good Healthy: It is pass.', status('pass')],
    ['good Healthy: It is pass.', status('pass', {})],
    ['warn Warning: 1 of 4 webhooks fails', status('pass', { failing: 1 })],
    ['warn Warning: 2 of 4 webhooks fail', status('warn', { failing: 2 })],
    ['warn Warning: All webhooks are held', status('pass', { isHeld: true, failing: 1 })],
    ['warn Warning: It is warn.', status('warn', {})],
    ['bad Failing: It is fail.', status('fail', { failing: 1 })],
  ])('returns "%s"', (said, one) => {
    const { tone, state, text } = verdictOf(one);
    expect(`${tone} ${state}: ${text}`).toBe(said);
  });
});
