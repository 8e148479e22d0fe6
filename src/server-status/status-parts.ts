import { Injectable } from '@nestjs/common';
import { Destinations, MOST_COUNTED } from '../delivery/destinations';
import { type AnswerValues } from '../operation/operation';
import { Statements } from '../platform/database/statements';
import { HealthCheck } from '../platform/health/health-check';
import { type MetricFamily, type Sample } from '../platform/metrics/metric-family';
import { Metrics } from '../platform/metrics/metrics';
import { softwareVersion } from '../platform/software-version';
import { Clock } from '../platform/time/clock';
import { MOST_SESSIONS_COUNTED, SessionTokens } from '../session/session-tokens.repository';
import { type RequestTotals, requestTotalsOf, secondsOfShare } from './request-classes';
import { DATABASE, DATABASE_SIZE, RESOURCE_COUNTS } from './status-statements';

export const MOST_DESTINATIONS = 1_000;
export const MOST_TABLES = 10;
/** How long the storage part is cached, since PostgreSQL reads the size of every file for it. */
const STORAGE_MILLISECONDS = 60_000;
const DATABASE_CHECK = 'db:responseTime';
/** Results of refused logins: the codes of RFC 6749, and `throttled`. */
const REFUSED = /^(?:invalid|unauthorized|unsupported)_|^throttled$/;

export const STATUS_PARTS = {
  timestamp: 'instant',
  health: { databaseMilliseconds: 'decimal', status: 'code', description: 'string' },
  server: {
    version: 'string',
    processes: 'decimal',
    memoryBytes: 'decimal',
    cpuSeconds: 'decimal',
    eventLoopDelaySeconds: 'decimal',
    backgroundFailures: 'decimal',
    started: 'instant',
  },
  requests: {
    count: 'decimal',
    refused: 'decimal',
    failed: 'decimal',
    cut: 'decimal',
    p50Seconds: 'decimal',
    p95Seconds: 'decimal',
    p99Seconds: 'decimal',
    class: 'code',
    within: { atMostSeconds: 'decimal', count: 'decimal' },
  },
  logins: { ok: 'decimal', refused: 'decimal', failed: 'decimal', waiting: 'decimal' },
  denials: { policy: 'decimal', rows: 'decimal' },
  connections: { size: 'decimal', inUse: 'decimal', waiting: 'decimal' },
  sessions: { active: 'decimal', activeIsMore: 'boolean' },
  delivery: {
    destinations: 'decimal',
    destinationsIsMore: 'boolean',
    failing: 'decimal',
    isHeld: 'boolean',
    queued: 'decimal',
    queuedIsMore: 'boolean',
    inProcess: 'decimal',
    oldestAgeSeconds: 'decimal',
  },
  database: {
    version: 'string',
    maxConnections: 'decimal',
    connections: 'decimal',
    standbys: 'decimal',
    standbyLagBytes: 'decimal',
    slotLagBytes: 'decimal',
  },
  storage: {
    bytes: 'decimal',
    timestamp: 'instant',
    table: { name: 'string', bytes: 'decimal', rows: 'decimal', deadRows: 'decimal' },
    resources: { count: 'decimal', type: 'code' },
  },
  missing: 'code',
} as const;
export type StatusValues = AnswerValues<typeof STATUS_PARTS>;
/** The sum of the wanted samples of a metric family; undefined if the family could not be read. */
type Sum = (name: string, isWanted?: (labels: Readonly<Record<string, string>>) => boolean) => number | undefined;

/** Each part has its own time limit, and may fail without the others. */
@Injectable()
export class StatusParts {
  private storage: { readonly values: Promise<StatusValues>; readonly endsAt: number } | undefined;

  constructor(
    private readonly check: HealthCheck,
    private readonly metrics: Metrics,
    private readonly tokens: SessionTokens,
    private readonly destinations: Destinations,
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  async ofHealth(): Promise<StatusValues> {
    const { status, description, checks } = await this.check.run();
    const [ping] = checks[DATABASE_CHECK] ?? [];
    return { health: { databaseMilliseconds: ping?.observedValue, status, description } };
  }

  /** Metrics, summed over all processes of this server. */
  async ofProcesses(): Promise<StatusValues> {
    const families = await this.metrics.ofStart('/metrics');
    const sum: Sum = (name, isWanted = () => true) =>
      samplesOf(families, name)
        ?.filter(({ labels = {} }) => isWanted(labels))
        .reduce((total, { value }) => total + value, 0);
    return {
      server: serverOf(sum),
      requests: requestTotalsOf(samplesOf(families, 'svc_http_request_duration_seconds') ?? []).map(withQuantiles),
      logins: loginsOf(sum),
      denials: {
        policy: sum('svc_access_denials_total', ({ reason }) => reason === 'policy'),
        rows: sum('svc_access_denials_total', ({ reason }) => reason === 'rows'),
      },
      connections: {
        size: sum('svc_database_pool_size'),
        inUse: sum('svc_database_pool_in_use'),
        waiting: sum('svc_database_pool_waiting'),
      },
    };
  }

  async ofSessions(): Promise<StatusValues> {
    const active = await this.tokens.countLive();
    const activeIsMore = active > MOST_SESSIONS_COUNTED || undefined;
    return { sessions: { active: Math.min(active, MOST_SESSIONS_COUNTED), activeIsMore } };
  }

  async ofDelivery(): Promise<StatusValues> {
    const found = await this.destinations.statusFrom('', MOST_DESTINATIONS + 1, undefined, MOST_COUNTED + 1);
    const counted = found.slice(0, MOST_DESTINATIONS);
    const sum = (of: (one: (typeof found)[number]) => number): number =>
      counted.reduce((total, one) => total + of(one), 0);
    const ages = counted.flatMap(({ oldestAge }) => oldestAge ?? []);
    return {
      delivery: {
        destinations: counted.length,
        destinationsIsMore: found.length > MOST_DESTINATIONS || undefined,
        failing: sum(({ failStreak }) => Number(failStreak > 0)),
        isHeld: found.map(({ state }) => state === 'held')[0],
        queued: sum(({ eventsQueued }) => Math.min(eventsQueued, MOST_COUNTED)),
        queuedIsMore: counted.some(({ eventsQueued }) => eventsQueued > MOST_COUNTED) || undefined,
        inProcess: sum(({ eventsInProcess }) => eventsInProcess),
        oldestAgeSeconds: ages.length === 0 ? undefined : Math.max(...ages),
      },
    };
  }

  async ofDatabase(): Promise<StatusValues> {
    return { database: await this.statements.runOne<Record<string, string | number | null>>(DATABASE, []) };
  }

  /** Sizes are read again after a minute. */
  ofStorage(): Promise<StatusValues> {
    if (this.storage === undefined || this.storage.endsAt < performance.now()) {
      const values = this.readStorage();
      this.storage = { values, endsAt: performance.now() + STORAGE_MILLISECONDS };
      values.catch(() => (this.storage = undefined));
    }
    return this.storage.values;
  }

  private async readStorage(): Promise<StatusValues> {
    const timestamp = this.clock.now();
    const size = await this.statements.runOne<{ bytes: number }>(DATABASE_SIZE, []);
    const resources = await this.statements.run<{ type: string; count: number }>(RESOURCE_COUNTS, []);
    const sizes = samplesOf(await this.metrics.read('/metrics/hours', 'cluster'), 'svc_table_size_bytes');
    const rows = samplesOf(await this.metrics.read('/metrics/minutes', 'cluster'), 'svc_table_rows');
    const rowsOf = (table: string | undefined, state: string): number | undefined =>
      rows?.find(({ labels = {} }) => labels.table === table && labels.state === state)?.value;
    const largest = (sizes ?? []).toSorted((one, other) => other.value - one.value).slice(0, MOST_TABLES);
    const table = largest.map(({ labels: { table: name } = {}, value: bytes }) => ({
      ...{ name, bytes, rows: rowsOf(name, 'live'), deadRows: rowsOf(name, 'dead') },
    }));
    return { storage: { bytes: size?.bytes, timestamp, table, resources } };
  }
}

const samplesOf = (families: readonly MetricFamily[], name: string): readonly Sample[] | undefined =>
  families.find((family) => family.name === name)?.samples;

function serverOf(sum: Sum): StatusValues['server'] {
  const startedAt = sum('process_start_time_seconds');
  return {
    version: softwareVersion(),
    processes: sum('svc_processes'),
    memoryBytes: sum('process_resident_memory_bytes'),
    cpuSeconds: sum('process_cpu_seconds_total'),
    eventLoopDelaySeconds: sum('svc_event_loop_delay_seconds', ({ quantile }) => quantile === '0.99'),
    backgroundFailures: sum('svc_background_failures_total'),
    started: startedAt && new Date(startedAt * 1000),
  };
}

const withQuantiles = ({ within, ...totals }: RequestTotals): AnswerValues<(typeof STATUS_PARTS)['requests']> => ({
  ...totals,
  p50Seconds: secondsOfShare(within, 0.5),
  p95Seconds: secondsOfShare(within, 0.95),
  p99Seconds: secondsOfShare(within, 0.99),
  within: [...within].flatMap(([atMostSeconds, count]) =>
    atMostSeconds === Infinity ? [] : [{ atMostSeconds, count }],
  ),
});

function loginsOf(sum: Sum): StatusValues['logins'] {
  const logins = (isWanted: (result: string) => boolean): number | undefined =>
    sum('svc_logins_total', ({ result = '' }) => isWanted(result));
  return {
    ok: logins((result) => result === 'ok'),
    refused: logins((result) => REFUSED.test(result)),
    failed: logins((result) => result !== 'ok' && !REFUSED.test(result)),
    waiting: sum('svc_logins_waiting'),
  };
}
