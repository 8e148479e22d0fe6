import { type Sample } from '../platform/metrics/metric-family';

/**
 * The classes of requests, each with a pattern of method and route. The first pattern that matches decides. Routes with
 * and without `/fhir` in front count as the same.
 */
const CLASSES = [
  ['login', /^POST \/auth\/token$/],
  ['auth', /^\w+ \/(auth\/|\.well-known\/|Session$)/],
  ['rpc', / \/rpc$/],
  ['everything', /\/\$everything$/],
  ['operation', /\/(\$|%24)/],
  ['history', /\/_history/],
  ['bundle', /^POST \/$/],
  ['search', /^(GET|HEAD) (\/|\/:type|\/:compartment\/.*)$|\/_search$/],
  ['read', /^(GET|HEAD) \/:type\/:id$/],
  ['write', /^(POST|PUT|PATCH|DELETE) \/:type/],
] as const;

export interface RequestTotals {
  readonly class: string;
  count: number;
  /** How many requests got a response with 4xx. */
  refused: number;
  /** How many requests got a response with 5xx. */
  failed: number;
  /** Responses that were not sent whole, because the client disconnected or the server ended them. */
  cut: number;
  /** For each bound in seconds, how many requests took at most that long. Responses that were cut do not count. */
  readonly within: Map<number, number>;
}

export function requestClassOf(method: string, route: string): string {
  const request = `${method} ${route.replace(/^\/fhir(?=\/|$)/, '') || '/'}`;
  return CLASSES.find(([, pattern]) => pattern.test(request))?.[0] ?? 'other';
}

/** Returns the totals of each class, from the series of the metric `svc_http_request_duration_seconds`. */
export function requestTotalsOf(samples: readonly Sample[]): readonly RequestTotals[] {
  const totals = new Map<string, RequestTotals>();
  for (const sample of samples) {
    const { method = '', route = '' } = sample.labels ?? {};
    const name = requestClassOf(method, route);
    const ofClass = totals.get(name) ?? { class: name, count: 0, refused: 0, failed: 0, cut: 0, within: new Map() };
    totals.set(name, ofClass);
    add(ofClass, sample);
  }
  return [...totals.values()].sort((one, other) => (one.class < other.class ? -1 : 1));
}

function add(totals: RequestTotals, { suffix, labels: { status, le } = {}, value }: Sample): void {
  if (suffix === '_count') {
    totals.count += value;
    if (status === '4xx') totals.refused += value;
    if (status === '5xx') totals.failed += value;
    if (status === 'cut') totals.cut += value;
  } else if (suffix === '_bucket' && status !== 'cut') {
    const bound = le === '+Inf' ? Infinity : Number(le);
    totals.within.set(bound, (totals.within.get(bound) ?? 0) + value);
  }
}

/**
 * Returns within how many seconds a share of the requests was answered; undefined without requests. The value is
 * interpolated within its bucket, like `histogram_quantile` of Prometheus, up to the largest bound.
 */
export function secondsOfShare(within: ReadonlyMap<number, number>, share: number): number | undefined {
  const wanted = share * (within.get(Infinity) ?? 0);
  if (wanted === 0) return undefined;
  let [lower, below] = [0, 0];
  for (const [bound, count] of within) {
    if (bound === Infinity) break;
    if (count >= wanted) return lower + ((bound - lower) * (wanted - below)) / (count - below);
    [lower, below] = [bound, count];
  }
  return lower;
}
