import { Injectable, Logger } from '@nestjs/common';
import { DatabaseError, type QueryConfig } from 'pg';
import { DataSource } from 'typeorm';
import { FailingStreak } from '../logging/failing-streak';
import { Counter } from '../metrics/counter';
import { Histogram, type Series } from '../metrics/histogram';
import { type MetricFamily, single } from '../metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../metrics/metric-source';
import { RequestContext } from '../request/request-context';
import { Tracing } from '../tracing/tracing';
import { poolOf } from './connection-slots';
import { type End, observePool } from './observed-pool';

/**
 * SQLSTATEs, by their first characters, after which an operator must act: disk, memory or connections exhausted, I/O
 * errors, a standby, a shutdown, a damaged index or page.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const TROUBLE = /^(53|58|25006|57P|08|XX)/;
/** The label of failures without a SQLSTATE: no connection, or one that broke. */
const NO_CONNECTION = 'connection';
/** The classes of which deploy/prometheus-rules.yaml reports each error. */
const ALERTED_CLASSES = ['08', '25', '53', '58', 'XX', NO_CONNECTION];
/** The span of a wait for a connection. */
const CONNECT = { name: 'wait for a connection' };
/** SQLSTATE of statements after a failed one of the same transaction. */
const IN_FAILED_TRANSACTION = '25P02';

/** Metrics of the database connections and statements of this process, read without a query. */
@Injectable()
@MetricsFrom({ source: 'pool', path: '/metrics' })
export class PoolMetrics implements MetricSource {
  private readonly logger = new Logger('Database');
  private readonly waits = new Histogram('svc_database_pool_wait_seconds', 'Waits for a connection.');
  private readonly wait = this.waits.of();
  private readonly times = new Histogram(
    'svc_database_statement_seconds',
    'From a statement to its answer; that of COMMIT is the time to write the log of PostgreSQL to its disk.',
  );
  private readonly commit = this.times.of({ command: 'commit' });
  private readonly other = this.times.of({ command: 'statement' });
  private readonly errors = new Counter(
    'svc_database_errors_total',
    'Errors of statements by class of SQLSTATE, and of connections.',
    ALERTED_CLASSES.map((name) => ({ class: name })),
  );
  private readonly streaks = new Map<string, FailingStreak>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly requests: RequestContext,
    private readonly tracing: Tracing,
  ) {
    const pool = poolOf(dataSource);
    const onConnect = (): End | undefined => {
      if (pool.idleCount === 0) return this.begin(this.wait, CONNECT);
      this.wait.observe(0);
      return undefined;
    };
    observePool(pool, onConnect, (statement) =>
      this.begin(statement === 'COMMIT' ? this.commit : this.other, statement),
    );
  }

  read(): readonly MetricFamily[] {
    const pool = poolOf(this.dataSource);
    return [
      single('gauge', 'svc_database_pool_size', 'Most connections of the pool.', pool.options.max),
      single('gauge', 'svc_database_pool_in_use', 'Connections that work.', pool.totalCount - pool.idleCount),
      single('gauge', 'svc_database_pool_waiting', 'Callers that wait for a connection.', pool.waitingCount),
      ...[this.waits, this.times, this.errors].map((metric) => metric.read()),
    ];
  }

  private begin(times: Series, work: unknown): End {
    const startedAt = performance.now();
    const parent = this.tracing.isOn ? this.requests.span : undefined;
    const span = parent === undefined ? undefined : this.tracing.statement(nameOf(work), parent);
    return (error) => {
      times.observe((performance.now() - startedAt) / 1000);
      const code = error === undefined ? undefined : sqlStateOf(error);
      this.tracing.end(span, code);
      if (code !== undefined) this.fail(code);
    };
  }

  private fail(code: string): void {
    if (code === IN_FAILED_TRANSACTION) return;
    const isConnection = code === NO_CONNECTION;
    const errorClass = isConnection ? code : code.slice(0, 2);
    this.errors.add({ class: errorClass });
    if (!isConnection && !TROUBLE.test(code)) return;
    const what = isConnection ? 'Connections to PostgreSQL' : `Statements of the error class ${errorClass}`;
    const streak = this.streaks.get(errorClass) ?? new FailingStreak(this.logger, what);
    this.streaks.set(errorClass, streak);
    streak.fail(isConnection ? 'none was free or could be made in time, or PostgreSQL closed it' : `SQLSTATE ${code}`);
  }
}

/**
 * Returns the SQLSTATE of an error of PostgreSQL. Errors of sockets have other codes, and get the label NO_CONNECTION.
 */
const sqlStateOf = (error: unknown): string =>
  error instanceof DatabaseError && error.code !== undefined ? error.code : NO_CONNECTION;

/**
 * Returns the name of a named statement, else the first word of its text, so that no value appears in a trace.
 */
function nameOf(work: unknown): string {
  const { name, text = '' } = typeof work === 'string' ? { text: work } : (work as QueryConfig);
  return name ?? /^\w+/.exec(text)?.[0].toUpperCase() ?? 'other';
}
