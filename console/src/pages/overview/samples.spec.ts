import { describe, expect, it } from '@jest/globals';
import { type ServerStatus } from 'svc-health-client';
import {
  bucketsOf,
  cutCounter,
  failuresCounter,
  latenciesOf,
  latestSpan,
  quantileOf,
  ratesOf,
  requestsCounter,
  type Sample,
  withSample,
} from './samples';

const START = Date.parse('2026-11-25T10:00:00Z');

/**
 * @param counts number of requests up to 0.1 s, up to 1 s, and in all
 */
const statusAt = (seconds: number, counts: readonly [number, number, number], started = 'a'): ServerStatus =>
  ({
    timestamp: new Date(START + seconds * 1000).toISOString(),
    server: { started: started === 'a' ? new Date(START).toISOString() : started },
    requests: [
      {
        class: 'read',
        count: counts[2],
        within: [
          { atMostSeconds: 0.1, count: counts[0] },
          { atMostSeconds: 1, count: counts[1] },
        ],
      },
    ],
    missing: [],
  }) as unknown as ServerStatus;

const samplesOf = (...all: ServerStatus[]): readonly Sample[] => all.reduce(withSample, [] as readonly Sample[]);

describe('samples of the server status', () => {
  it('yield rates for the time between two samples', () => {
    const samples = samplesOf(statusAt(10, [5, 10, 10]), statusAt(20, [5, 30, 30]), statusAt(25, [5, 30, 30]));
    expect(ratesOf(samples, requestsCounter)).toEqual([2, 0]);
  });

  it('count an answer once if several callers share it', () => {
    expect(samplesOf(statusAt(10, [1, 1, 1]), statusAt(10, [1, 1, 1]))).toHaveLength(1);
  });

  it('are compared only with samples of the same server start: no rate is negative after a restart', () => {
    const samples = samplesOf(
      statusAt(10, [0, 0, 100]),
      statusAt(20, [0, 0, 3], 'b'),
      statusAt(30, [0, 0, 140]),
      statusAt(40, [0, 0, 8], 'b'),
    );
    expect(ratesOf(samples, requestsCounter)).toEqual([null, 2, 0.25]);
  });

  it('count 5xx answers as failures, and requests that were cut off separately', () => {
    const requests = [{ class: 'search', count: 9, refused: 1, failed: 2, cut: 4, within: [] }];
    const status = { ...statusAt(10, [0, 0, 0]), requests };
    expect([failuresCounter(status), cutCounter(status)]).toEqual([2, 4]);
  });

  it('are kept for ten minutes', () => {
    const many = Array.from({ length: 300 }, (_none, index) => statusAt(index * 5, [0, 0, index]));
    expect(samplesOf(...many)).toHaveLength(120);
  });

  it('cover the latest minute, or the time since the start while there is only one sample', () => {
    const one = latestSpan(samplesOf(statusAt(50, [0, 0, 100])));
    expect([one?.isSinceStart, one?.seconds, one?.grown(requestsCounter)]).toEqual([true, 50, 100]);
    const samples = samplesOf(statusAt(10, [0, 0, 1]), statusAt(60, [0, 0, 7]), statusAt(110, [0, 0, 9]));
    const span = latestSpan(samples);
    expect([span?.isSinceStart, span?.seconds, span?.grown(requestsCounter)]).toEqual([false, 50, 2]);
  });
});

describe('quantiles of requests', () => {
  const of = (...counts: [number, number, number]): ReturnType<typeof bucketsOf> =>
    bucketsOf(statusAt(0, counts).requests);

  it.each([
    [0.5, 0.1],
    [0.25, 0.05],
    [0.75, 0.55],
    [1, 1],
  ])('for the share %d is %d s, with values spread evenly in a bucket', (share, seconds) => {
    expect(quantileOf(share, of(10, 20, 20), of(0, 0, 0))).toBeCloseTo(seconds);
  });

  it('exclude requests before the interval', () => {
    expect(quantileOf(0.5, of(1000, 1010, 1010), of(1000, 1000, 1000))).toBeCloseTo(0.55);
    expect(quantileOf(0.5, of(7, 7, 7), of(7, 7, 7))).toBeUndefined();
  });

  it('beyond the last bound are that bound', () => {
    expect(quantileOf(0.95, of(0, 0, 5), of(0, 0, 0))).toBe(1);
  });

  it('are computed for each interval', () => {
    const samples = samplesOf(statusAt(0, [0, 0, 0]), statusAt(5, [10, 10, 10]), statusAt(10, [10, 20, 20]));
    expect(latenciesOf(samples, 0.5).map((value) => Number(value?.toFixed(3)))).toEqual([0.05, 0.55]);
  });
});
