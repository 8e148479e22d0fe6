import { Injectable } from '@nestjs/common';
import { type PoolClient, type QueryResult, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { type EndSignal } from '../admission/request-end';
import { cancelledWhenGone } from './cancelled-when-gone';
import { poolOf } from './connection-slots';
import { databaseErrorToServiceError } from './database-error';
import { type Statement } from './statement';
import { configOf, driverValues, failureOf, sendLimited } from './statements';
import { ServiceError } from '../errors/service-error';
import { RequestContext } from '../request/request-context';

export interface SnapshotOptions {
  /**
   * Time limit of all statements together, until {@link Snapshot.liftLimit}. The time between statements does not
   * count.
   */
  readonly seconds: number;
  readonly spentMilliseconds?: number;
  /** Makes the error that is thrown after the time limit. */
  readonly refusal: () => ServiceError;
  /** Present if the transaction also writes. */
  readonly isWriting?: true;
}

/** Runs statements that all see the same snapshot of the database. */
export class Snapshot {
  private spentMilliseconds: number;
  private isLimited = true;

  constructor(
    private readonly client: PoolClient,
    private readonly options: SnapshotOptions,
    private readonly signal: EndSignal,
  ) {
    this.spentMilliseconds = options.spentMilliseconds ?? 0;
  }

  /**
   * Ends the common time limit. From now on, each statement has only the time limit of the pool. Called when a part of
   * the answer may already be sent.
   */
  async liftLimit(): Promise<void> {
    this.isLimited = false;
    await this.client.query('SET LOCAL statement_timeout TO DEFAULT');
  }

  /**
   * Runs a statement in the snapshot.
   * @throws ServiceError 'timeout' after the common time limit
   */
  async run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    if (!this.isLimited) return this.cancellable<Row>(statement, values);
    const left = Math.trunc(this.options.seconds * 1000 - this.spentMilliseconds);
    if (left < 1) throw this.options.refusal();
    const startedAt = performance.now();
    try {
      return await this.cancellable<Row>(statement, values, left);
    } catch (error) {
      throw databaseErrorToServiceError(error)?.kind === 'timeout' ? this.options.refusal() : error;
    } finally {
      this.spentMilliseconds += performance.now() - startedAt;
    }
  }

  private cancellable<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly unknown[],
    milliseconds?: number,
  ): Promise<Row[]> {
    const { client } = this;
    const send = (): Promise<QueryResult<Row>> => client.query<Row>(configOf(statement), driverValues(values));
    return cancelledWhenGone(this.signal, client, async () => {
      const { rows } = await (milliseconds === undefined ? send() : sendLimited(client, milliseconds, send));
      return rows;
    });
  }
}

/** Opens transactions with a fixed snapshot, for answers that need several statements. */
@Injectable()
export class Snapshots {
  constructor(
    private readonly dataSource: DataSource,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Runs `work` in a separate transaction, which does not see the writes of an open unit of work. If `work` throws, its
   * writes are rolled back.
   */
  async within<T>(options: SnapshotOptions, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const client: PoolClient = await poolOf(this.dataSource).connect();
    let broken: Error | undefined;
    try {
      const access = options.isWriting === true ? 'READ WRITE' : 'READ ONLY';
      client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ ${access}`).catch(() => undefined); // a broken connection fails the statement too
      const result = await work(new Snapshot(client, options, this.requests.ticket.signal));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      broken = await failureOf(client, 'ROLLBACK');
      throw error;
    } finally {
      client.release(broken);
    }
  }
}
