import { describe, expect, it } from '@jest/globals';
import { adviceOf, byUrgency, failingSince, verdictOf } from './verdict';

const quiet = { id: 'a', kind: 'webhook', state: 'active', queued: 0, inProcess: 0, hours: [] } as const;

describe(verdictOf.name, () => {
  it('returns the error, the number of failures, the waiting events and an advice', () => {
    const { text, advice } = verdictOf({
      ...quiet,
      ...{ state: 'failing', failuresInARow: 12, queued: 40, inProcess: 2, oldestAgeSeconds: 600 },
      lastError: { message: 'HTTP 503', timestamp: '2026-01-31T10:00:00Z' },
    });
    expect(text).toBe('HTTP 503: 12 attempts in a row failed. 42 events wait, the oldest for 10 min.');
    expect(advice).toContain('webhook-id');
  });

  it('distinguishes a slow destination from a failing one and from a healthy one', () => {
    expect(verdictOf(quiet)).toMatchObject({ tone: 'good', text: 'All events are delivered.' });
    expect(verdictOf({ ...quiet, queued: 1, oldestAgeSeconds: 300 })).toMatchObject({
      tone: 'warn',
      text: 'Nothing fails, but 1 event waits, the oldest for 5 min.',
    });
    expect(verdictOf({ ...quiet, queued: 1000, queuedIsMore: true, oldestAgeSeconds: 1 }).text).toBe(
      '1,000 and more events wait briefly.',
    );
    expect(verdictOf({ ...quiet, state: 'held' }).label).toBe('Held');
  });
});

describe(adviceOf.name, () => {
  it.each([
    ['Connection refused', 'Nothing listens'],
    ['The host name of the endpoint is not known', 'has no address'],
    ['The TLS certificate of the endpoint has expired', 'certificate'],
    ['No answer within 30 s', 'answer first'],
    ['HTTP 301', 'final URL'],
    ['HTTP 401', 'credentials'],
    ['HTTP 404', 'path'],
    ['HTTP 422', 'webhook-id'],
    ['<b>HTTP</b>', 'Send a test'],
  ])('returns advice for the error "%s"', (message, advice) => {
    expect(adviceOf(message)).toContain(advice);
  });
});

describe(byUrgency.name, () => {
  it('sorts failing destinations first, then those whose oldest event waits longest', () => {
    const rows = [
      { ...quiet, id: 'b' },
      { ...quiet, id: 'a' },
      { ...quiet, id: 'waits', oldestAgeSeconds: 5 },
      { ...quiet, id: 'late', state: 'failing', oldestAgeSeconds: 9 },
      { ...quiet, id: 'later', state: 'failing', oldestAgeSeconds: 99 },
    ] as const;
    expect([...rows].sort(byUrgency).map(({ id }) => id)).toEqual(['later', 'late', 'waits', 'a', 'b']);
  });
});

describe(failingSince.name, () => {
  const errors = ['10:04', '10:03', '10:02', '10:01', '10:00'].map((time) => ({
    message: 'HTTP 503',
    timestamp: `2026-01-31T${time}:00Z`,
  }));
  const at = (time: string): string => `2026-01-31T${time}:00Z`;
  const event = { state: 'in-process', recorded: at('09:00'), batched: at('09:01') } as const;

  it('returns the first attempt on the blocking event, or the time of its notification if that attempt is not listed', () => {
    const attempt = [{ ended: at('09:02'), delivered: false, outcome: 'HTTP 503' }];
    expect(failingSince({ ...event, attempts: 1, attempt }, errors, 1)).toEqual({ at: at('09:02') });
    expect(failingSince({ ...event, attempts: 30, attempt }, errors, 30)).toEqual({ at: at('09:01') });
  });

  it('returns the time of the first error of a failing replay, or isLonger if it is not listed', () => {
    expect(failingSince(undefined, errors, 2)).toEqual({ at: at('10:03') });
    expect(failingSince(undefined, errors, 9)).toEqual({ at: at('10:00'), isLonger: true });
    expect(failingSince(undefined, [], 1)).toBeUndefined();
  });
});
