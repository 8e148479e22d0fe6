import { type RequestCounts, type ServerStatus } from 'svc-health-client';

/** One status answer of a server. The counters of a server begin at its start. */
export interface Sample {
  /** Milliseconds of the server's clock. */
  readonly at: number;
  readonly status: ServerStatus;
}

/** The number of kept samples: ten minutes at one sample every 5 s. */
const KEPT = 120;

/** Adds an answer. If several callers shared one answer, it counts once. */
export function withSample(samples: readonly Sample[], status: ServerStatus): readonly Sample[] {
  const at = Date.parse(status.timestamp);
  if (samples.at(-1)?.at === at) return samples;
  return [...samples, { at, status }].slice(-KEPT);
}

/**
 * Whether two samples are from the same start of a server. Behind a load balancer each answer may come from another
 * server, so counters are compared only if this is true.
 */
const isSameStart = (one: Sample, other: Sample): boolean =>
  one.status.server !== undefined && one.status.server.started === other.status.server?.started;

/** The latest sample before `index` from the same start of a server. */
function before(samples: readonly Sample[], index: number): Sample | undefined {
  const sample = samples[index];
  if (sample === undefined) return undefined;
  return samples.slice(0, index).findLast((earlier) => isSameStart(earlier, sample));
}

export type Counter = (status: ServerStatus) => number | undefined;

/** The growth of a counter per second, one value per sample except the first; null if unknown. */
export function ratesOf(samples: readonly Sample[], counter: Counter): (number | null)[] {
  return samples.slice(1).map((sample, index) => {
    const earlier = before(samples, index + 1);
    return earlier === undefined ? null : growthBetween(earlier, sample, counter);
  });
}

function growthBetween(earlier: Sample, later: Sample, counter: Counter): number | null {
  const [old, now] = [counter(earlier.status), counter(later.status)];
  const seconds = (later.at - earlier.at) / 1000;
  return old === undefined || now === undefined || seconds <= 0 || now < old ? null : (now - old) / seconds;
}

/** The window of the figures: up to a minute of samples; with one sample, the time since the start. */
export interface Span {
  readonly seconds: number;
  readonly isSinceStart: boolean;
  /** The growth of a counter in the window. */
  readonly grown: (counter: Counter) => number | undefined;
  /** The time within which a share of the requests was answered. */
  readonly quantile: (share: number, ofClass?: string) => number | undefined;
}

const SPAN_MILLISECONDS = 60_000;

export function latestSpan(samples: readonly Sample[]): Span | undefined {
  const last = samples.at(-1);
  if (last === undefined) return undefined;
  const first = samples.find(
    (sample) => sample !== last && last.at - sample.at <= SPAN_MILLISECONDS && isSameStart(sample, last),
  );
  const began = first?.at ?? Date.parse(last.status.server?.started ?? '');
  return {
    seconds: (last.at - began) / 1000,
    isSinceStart: first === undefined,
    grown: (counter) => {
      const [old, now] = [first === undefined ? 0 : counter(first.status), counter(last.status)];
      return old === undefined || now === undefined ? undefined : now - old;
    },
    quantile: (share, ofClass) =>
      quantileOf(share, bucketsOf(last.status.requests, ofClass), bucketsOf(first?.status.requests ?? [], ofClass)),
  };
}

/** The time within which a share of the requests was answered, for each interval between samples. */
export function latenciesOf(samples: readonly Sample[], share: number): (number | null)[] {
  return samples.slice(1).map((sample, index) => {
    const earlier = before(samples, index + 1);
    if (earlier === undefined) return null;
    return quantileOf(share, bucketsOf(sample.status.requests), bucketsOf(earlier.status.requests)) ?? null;
  });
}

/**
 * A cumulative histogram: for each bound in seconds, the number of requests that took at most this long. The number of
 * all requests is under Infinity.
 */
type Buckets = ReadonlyMap<number, number>;

export function bucketsOf(requests: readonly RequestCounts[], ofClass?: string): Buckets {
  const buckets = new Map<number, number>();
  const add = (bound: number, count: number): void => {
    buckets.set(bound, (buckets.get(bound) ?? 0) + count);
  };
  for (const { class: name, count, within } of requests) {
    if (ofClass !== undefined && name !== ofClass) continue;
    for (const bucket of within) add(bucket.atMostSeconds, bucket.count);
    add(Infinity, count);
  }
  return buckets;
}

/**
 * The time within which a share of the requests between two answers was answered. Requests are assumed to be spread
 * evenly within each bucket.
 */
export function quantileOf(share: number, now: Buckets, old: Buckets): number | undefined {
  const bounds = [...now.keys()].sort((one, other) => one - other);
  const grown = bounds.map((bound) => (now.get(bound) ?? 0) - (old.get(bound) ?? 0));
  const wanted = share * (grown.at(-1) ?? 0);
  if (wanted <= 0) return undefined;
  const index = grown.findIndex((count) => count >= wanted);
  const [bound = 0, below = 0] = [bounds[index], index === 0 ? 0 : bounds[index - 1]];
  if (bound === Infinity) return below;
  const [from, to] = [index === 0 ? 0 : (grown[index - 1] ?? 0), grown[index] ?? 0];
  return below + ((bound - below) * (wanted - from)) / (to - from);
}

const total =
  (read: (requests: RequestCounts) => number): Counter =>
  ({ requests }) =>
    requests.reduce((sum, one) => sum + read(one), 0);

export const requestsCounter = total(({ count }) => count);
export const failuresCounter = total(({ failed }) => failed);
/** Answers that were not sent whole. As a rule their callers disconnected, as this console does when a page is left. */
export const cutCounter = total(({ cut }) => cut);
export const refusalsCounter = total(({ refused }) => refused);
export const loginsCounter: Counter = ({ logins }) => logins?.ok;
export const refusedLoginsCounter: Counter = ({ logins }) => logins && logins.refused + logins.failed;
export const denialsCounter: Counter = ({ denials }) => denials && denials.policy + denials.rows;
export const cpuCounter: Counter = ({ server }) => server?.cpuSeconds;
