import { Injectable } from '@nestjs/common';
import { type PoolClient, type QueryResult, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { type EndSignal } from '../admission/request-end';
import { cancelledWhenGone } from './cancelled-when-gone';
import { poolOf } from './connection-slots';
import { inOwnTransaction } from './own-transaction';
import { type Statement } from './statement';
import { configOf, driverValues, sendLimited } from './statements';
import { TimeLimit } from './time-limit';
import { type ServiceError } from '../errors/service-error';
import { RequestContext } from '../request/request-context';

export interface SnapshotOptions {
  /** Time limit of all statements together, until {@link Snapshot.liftLimit}. */
  readonly seconds: number;
  /** The part of this time that has already passed. */
  readonly spentMilliseconds?: number;
  /** Makes the error that is thrown after the time limit. */
  readonly refusal: () => ServiceError;
  /** Present if the transaction also writes. */
  readonly isWriting?: true;
}

/** Statements that all see the same snapshot of the database. */
export class Snapshot {
  private limit: TimeLimit | undefined;

  constructor(
    private readonly client: PoolClient,
    { seconds, spentMilliseconds = 0, refusal }: SnapshotOptions,
    private readonly signal: EndSignal,
  ) {
    this.limit = new TimeLimit(seconds - spentMilliseconds / 1000, refusal);
  }

  /**
   * Ends the common time limit. From now on, each statement has only the time limit of the pool. Called when a part of
   * the answer may already be sent.
   */
  async liftLimit(): Promise<void> {
    this.limit = undefined;
    await this.client.query('SET LOCAL statement_timeout TO DEFAULT');
  }

  /** @throws ServiceError 'timeout' after the common time limit */
  async run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { client, limit } = this;
    const send = (): Promise<QueryResult<Row>> => client.query<Row>(configOf(statement), driverValues(values));
    const limited = (): Promise<QueryResult<Row>> => (limit === undefined ? send() : sendLimited(client, limit, send));
    try {
      return (await cancelledWhenGone(this.signal, client, limited)).rows;
    } catch (error) {
      throw limit === undefined ? error : limit.refusalOf(error);
    }
  }
}

/** Opens transactions with a fixed snapshot, for answers of several statements. */
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
  within<T>(options: SnapshotOptions, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const access = options.isWriting === true ? 'READ WRITE' : 'READ ONLY';
    const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ ${access}`;
    const { signal } = this.requests.ticket;
    return inOwnTransaction(poolOf(this.dataSource), begin, (client) => work(new Snapshot(client, options, signal)));
  }
}
