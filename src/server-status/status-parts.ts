import { Injectable } from '@nestjs/common';
import { Destinations, MOST_COUNTED } from '../delivery/destinations';
import { Statements } from '../platform/database/statements';
import { HealthCheck } from '../platform/health/health-check';
import { type MetricFamily, type Sample } from '../platform/metrics/metric-family';
import { Metrics } from '../platform/metrics/metrics';
import { softwareVersion } from '../platform/software-version';
import { Clock } from '../platform/time/clock';
import { MOST_SESSIONS_COUNTED, SessionTokens } from '../session/session-tokens.repository';
import { group, type Part, valuePart } from './parameter-parts';
import { type RequestTotals, requestTotalsOf, secondsOfShare } from './request-classes';
import { DATABASE, DATABASE_SIZE, RESOURCE_COUNTS } from './status-statements';

export const MOST_DESTINATIONS = 1_000;
export const MOST_TABLES = 10;
/** How long the storage part is cached, since PostgreSQL reads the size of every file for it. */
const STORAGE_MILLISECONDS = 60_000;
const DATABASE_CHECK = 'db:responseTime';
/** Results of logins that count as refused: the codes of RFC 6749, and `throttled`. */
const REFUSED = /^(?:invalid|unauthorized|unsupported)_|^throttled$/;

type Families = ReadonlyMap<string, MetricFamily>;

/** Reads the parts of the answer. Each part has a time limit of its own, and may fail without the others. */
@Injectable()
export class StatusParts {
  private storage: { readonly parts: Promise<readonly Part[]>; readonly endsAt: number } | undefined;

  constructor(
    private readonly check: HealthCheck,
    private readonly metrics: Metrics,
    private readonly tokens: SessionTokens,
    private readonly destinations: Destinations,
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  async ofHealth(): Promise<readonly Part[]> {
    const { status, description, checks } = await this.check.run();
    const [ping] = checks[DATABASE_CHECK] ?? [];
    const milliseconds = { databaseMilliseconds: ping?.observedValue };
    return [group('health', milliseconds, [codePart('status', status), ...valuePart('description', description)])];
  }

  /** Returns the metrics, summed over all processes of this server. */
  async ofProcesses(): Promise<readonly Part[]> {
    const families = new Map((await this.metrics.ofStart('/metrics')).map((family) => [family.name, family]));
    const times = families.get('svc_http_request_duration_seconds') ?? { samples: [] };
    return [
      serverPart(families),
      ...requestTotalsOf(times).map(requestPart),
      loginsPart(families),
      group('denials', {
        policy: sumOf(families, 'svc_access_denials_total', ({ reason }) => reason === 'policy'),
        rows: sumOf(families, 'svc_access_denials_total', ({ reason }) => reason === 'rows'),
      }),
      group('connections', {
        size: sumOf(families, 'svc_database_pool_size'),
        inUse: sumOf(families, 'svc_database_pool_in_use'),
        waiting: sumOf(families, 'svc_database_pool_waiting'),
      }),
    ];
  }

  async ofSessions(): Promise<readonly Part[]> {
    const active = await this.tokens.countLive();
    const counted = { active: Math.min(active, MOST_SESSIONS_COUNTED) };
    return [group('sessions', active > MOST_SESSIONS_COUNTED ? { ...counted, activeIsMore: true } : counted)];
  }

  async ofDelivery(): Promise<readonly Part[]> {
    const found = await this.destinations.statusFrom('', MOST_DESTINATIONS + 1, undefined, MOST_COUNTED + 1);
    const counted = found.slice(0, MOST_DESTINATIONS);
    const sum = (of: (one: (typeof found)[number]) => number): number =>
      counted.reduce((total, one) => total + of(one), 0);
    const ages = counted.flatMap(({ oldestAge }) => oldestAge ?? []);
    return [
      group('delivery', {
        destinations: counted.length,
        destinationsIsMore: found.length > MOST_DESTINATIONS || undefined,
        failing: sum(({ failStreak }) => Number(failStreak > 0)),
        isHeld: found.map(({ state }) => state === 'held')[0],
        queued: sum(({ eventsQueued }) => Math.min(eventsQueued, MOST_COUNTED)),
        queuedIsMore: counted.some(({ eventsQueued }) => eventsQueued > MOST_COUNTED) || undefined,
        inProcess: sum(({ eventsInProcess }) => eventsInProcess),
        oldestAgeSeconds: ages.length === 0 ? undefined : Math.max(...ages),
      }),
    ];
  }

  async ofDatabase(): Promise<readonly Part[]> {
    const row = await this.statements.runOne<Record<string, string | number | null>>(DATABASE, []);
    return [group('database', row ?? {})];
  }

  /** Returns the sizes of the database. They are read again after a minute. */
  ofStorage(): Promise<readonly Part[]> {
    if (this.storage === undefined || this.storage.endsAt < performance.now()) {
      const parts = this.readStorage();
      this.storage = { parts, endsAt: performance.now() + STORAGE_MILLISECONDS };
      parts.catch(() => (this.storage = undefined));
    }
    return this.storage.parts;
  }

  private async readStorage(): Promise<readonly Part[]> {
    const at = this.clock.now().toISOString();
    const size = await this.statements.runOne<{ bytes: number }>(DATABASE_SIZE, []);
    const counts = await this.statements.run<{ type: string; count: number }>(RESOURCE_COUNTS, []);
    const sizes = samplesOf(await this.metrics.read('/metrics/hours', 'cluster'), 'svc_table_size_bytes');
    const rows = samplesOf(await this.metrics.read('/metrics/minutes', 'cluster'), 'svc_table_rows');
    const rowsOf = (table: string | undefined, state: string): number | undefined =>
      rows.find(({ labels = {} }) => labels.table === table && labels.state === state)?.value;
    const largest = sizes.toSorted((one, other) => other.value - one.value).slice(0, MOST_TABLES);
    const tables = largest.map(({ labels: { table } = {}, value: bytes }) =>
      group('table', { name: table, bytes, rows: rowsOf(table, 'live'), deadRows: rowsOf(table, 'dead') }),
    );
    const resources = counts.map(({ type, count }) => group('resources', { count }, [codePart('type', type)]));
    const parts = [...valuePart('timestamp', at, 'Instant'), ...tables, ...resources];
    return [group('storage', { bytes: size?.bytes }, parts)];
  }
}

const codePart = (name: string, code: string): Part => ({ name, valueCode: code });

const samplesOf = (families: readonly MetricFamily[], name: string): readonly Sample[] =>
  families.find((family) => family.name === name)?.samples ?? [];

/** Returns the sum of a metric family; undefined if the family could not be read. */
const sumOf = (
  families: Families,
  name: string,
  isWanted: (labels: Readonly<Record<string, string>>) => boolean = () => true,
): number | undefined =>
  families
    .get(name)
    ?.samples.filter(({ labels = {} }) => isWanted(labels))
    .reduce((total, { value }) => total + value, 0);

function serverPart(families: Families): Part {
  const startedAt = sumOf(families, 'process_start_time_seconds') ?? NaN;
  const started = Number.isFinite(startedAt) ? new Date(startedAt * 1000).toISOString() : undefined;
  return group(
    'server',
    {
      version: softwareVersion(),
      processes: sumOf(families, 'svc_processes'),
      memoryBytes: sumOf(families, 'process_resident_memory_bytes'),
      cpuSeconds: sumOf(families, 'process_cpu_seconds_total'),
      eventLoopDelaySeconds: sumOf(families, 'svc_event_loop_delay_seconds', ({ quantile }) => quantile === '0.99'),
      backgroundFailures: sumOf(families, 'svc_background_failures_total'),
    },
    valuePart('started', started, 'Instant'),
  );
}

function requestPart(totals: RequestTotals): Part {
  const { class: name, count, refused, failed, cut, within } = totals;
  const shares = { p50Seconds: 0.5, p95Seconds: 0.95, p99Seconds: 0.99 };
  const seconds = Object.entries(shares).map(([key, share]) => [key, secondsOfShare(within, share)] as const);
  return group('requests', { count, refused, failed, cut, ...Object.fromEntries(seconds) }, [
    codePart('class', name),
    ...[...within].flatMap(([atMostSeconds, answered]) =>
      atMostSeconds === Infinity ? [] : [group('within', { atMostSeconds, count: answered })],
    ),
  ]);
}

function loginsPart(families: Families): Part {
  const logins = (isWanted: (result: string) => boolean): number | undefined =>
    sumOf(families, 'svc_logins_total', ({ result = '' }) => isWanted(result));
  return group('logins', {
    ok: logins((result) => result === 'ok'),
    refused: logins((result) => REFUSED.test(result)),
    failed: logins((result) => result !== 'ok' && !REFUSED.test(result)),
    waiting: sumOf(families, 'svc_logins_waiting'),
  });
}
