import { Injectable } from '@nestjs/common';
import { type Pool, type PoolClient, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { type PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { databaseErrorToServiceError } from './database-error';
import { inOneFlight } from './in-one-flight';
import { type Statement } from './statement';
import { configOf, ignored, valuesOf } from './statements';
import { ServiceError } from '../errors/service-error';

export interface SnapshotOptions {
  /** What all statements up to {@link Snapshot.liftLimit} together may take; the time between them does not count. */
  readonly seconds: number;
  /** What was spent before. */
  readonly spentMilliseconds?: number;
  /** What the caller is told when the time is over. */
  readonly refusal: () => ServiceError;
  /** Ends a statement that runs when nobody waits for it any more. */
  readonly signal?: AbortSignal;
  /** Whether tables are written. */
  readonly isWriting?: true;
}

/** Statements that all see one moment of the database. */
export class Snapshot {
  private spentMilliseconds: number;
  private isLimited = true;
  /** Whether a statement is under way. */
  isBusy = false;

  constructor(
    private readonly client: PoolClient,
    private readonly options: SnapshotOptions,
  ) {
    this.spentMilliseconds = options.spentMilliseconds ?? 0;
  }

  /** From here on each statement has its own limit, that of the pool: a part of the answer may have been sent. */
  async liftLimit(): Promise<void> {
    this.isLimited = false;
    await this.client.query('SET LOCAL statement_timeout TO DEFAULT');
  }

  /** @throws ServiceError 'timeout' when the time of all is over */
  async run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    this.options.signal?.throwIfAborted();
    if (!this.isLimited) return this.runUnlimited<Row>(statement, values);
    const left = Math.trunc(this.options.seconds * 1000 - this.spentMilliseconds);
    if (left < 1) throw this.options.refusal();
    const startedAt = performance.now();
    this.isBusy = true;
    try {
      const [, { rows }] = await inOneFlight([
        this.client.query(`SET LOCAL statement_timeout = ${left}`),
        this.client.query<Row>(configOf(statement), valuesOf(values)),
      ] as const);
      return rows;
    } catch (error) {
      throw databaseErrorToServiceError(error)?.kind === 'timeout' ? this.options.refusal() : error;
    } finally {
      this.isBusy = false;
      this.spentMilliseconds += performance.now() - startedAt;
    }
  }

  private async runUnlimited<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> {
    this.isBusy = true;
    try {
      return (await this.client.query<Row>(configOf(statement), valuesOf(values))).rows;
    } finally {
      this.isBusy = false;
    }
  }
}

/** Gives out transactions that see one moment, for answers that take more than one statement. */
@Injectable()
export class Snapshots {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs `work` in a transaction of its own, which sees nothing of an open unit of work. When it throws, what it wrote is undone.
   */
  async within<T>(options: SnapshotOptions, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const client: PoolClient = await this.pool.connect();
    client.on('error', ignored);
    const snapshot = new Snapshot(client, options);
    const held = { isReleased: false };
    const abandon = (): void => {
      // Between two statements nothing holds the work up: it ends by itself.
      if (!snapshot.isBusy || held.isReleased) return;
      held.isReleased = true;
      this.abandon(client);
    };
    options.signal?.addEventListener('abort', abandon);
    let broken: Error | undefined;
    try {
      const access = options.isWriting === true ? 'READ WRITE' : 'READ ONLY';
      client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ ${access}`).catch(() => undefined); // a broken connection fails the first statement too
      const result = await work(snapshot);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      if (!held.isReleased) broken = await rolledBack(client);
      throw error;
    } finally {
      options.signal?.removeEventListener('abort', abandon);
      client.off('error', ignored);
      if (!held.isReleased) client.release(broken);
    }
  }

  /** PostgreSQL would go on with a statement until it has something to send. */
  private abandon(client: PoolClient): void {
    const { processID } = client as PoolClient & { readonly processID: number };
    client.release(true);
    this.pool.query('select pg_cancel_backend($1)', [processID]).catch(() => undefined); // it then ends at its time limit
  }

  private get pool(): Pool {
    return (this.dataSource.driver as PostgresDriver).master as Pool;
  }
}

const rolledBack = (client: PoolClient): Promise<Error | undefined> =>
  client.query('ROLLBACK').then(
    () => undefined,
    (error: unknown) => error as Error,
  );
