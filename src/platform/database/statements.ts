import { Injectable } from '@nestjs/common';
import { type PoolClient, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { type EndSignal } from '../admission/request-end';
import { TurnPace } from '../admission/turn-pace';
import { Ambient } from '../ambient';
import { cancelledWhenGone } from './cancelled-when-gone';
import { ConnectionSlots, poolOf } from './connection-slots';
import { pipelined } from './pipelined';
import { inOwnTransaction } from './own-transaction';
import { STATEMENT_TYPES, type Statement } from './statement';
import { type TimeLimit } from './time-limit';
import { UnitOfWork } from './unit-of-work';

/**
 * How many statements with a slot may begin in one turn of the event loop. Their rows need up to some milliseconds of
 * CPU when they arrive, and statements that begin together tend to end together. With as many as there are slots,
 * reads beside 200 pages of 10 MB took up to 2 s; with two, the p99 was three times as long as with one.
 */
const SLOTTED_PER_TURN = 1;

const TRY_LOCK: Statement = { name: 'try-lock', text: 'select pg_try_advisory_xact_lock($1) as is_mine' };

/**
 * A function that sends a statement with its values. It returns the promise of the driver and is not an async function:
 * each async function would add a hundredth of the CPU time of a one-row read.
 */
type Send<Row extends QueryResultRow> = (client: PoolClient) => Promise<QueryResult<Row>>;

/**
 * Runs named statements on TypeORM's pool: in the open unit of work, else on a separate connection. It is for the hot
 * paths, since the same SQL through a repository costs 6 to 8 times as much (ADR 0004). When the client of the request
 * disconnects, PostgreSQL cancels the running statements.
 */
@Injectable()
export class Statements {
  private readonly limits = new Ambient<TimeLimit>();
  private readonly searchSlots: ConnectionSlots;
  private readonly pace = new TurnPace(SLOTTED_PER_TURN);

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {
    this.searchSlots = new ConnectionSlots('search', dataSource);
  }

  async run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    if (this.unitOfWork.isHeldEarly(statement, values)) return [];
    const [config, given] = [configOf(statement), driverValues(values)];
    const send: Send<Row> = (client) => client.query<Row>(config, given);
    const { client: unit, ticket } = this.unitOfWork;
    const limit = this.limits.value;
    const timed = limit?.isKept === false ? limit : undefined;
    if (unit !== undefined) {
      const inUnit = (): Promise<QueryResult<Row>> =>
        timed === undefined ? send(unit) : limitedInUnit(unit, timed, send);
      return (await cancelledWhenGone(ticket.signal, unit, inUnit)).rows;
    }
    const alone = (): Promise<QueryResult<Row>> => this.runAlone(ticket.signal, timed, send);
    if (limit === undefined) return (await alone()).rows;
    const paced = async (): Promise<QueryResult<Row>> => {
      await this.pace.turnFor(() => ticket);
      return alone();
    };
    return (await this.searchSlots.run(ticket, paced)).rows;
  }

  async runOne<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.run<Row>(statement, values))[0];
  }

  /**
   * Takes an advisory lock until the open transaction ends.
   * @returns false if another transaction holds the lock
   */
  async tryLock(lock: number): Promise<boolean> {
    return (await this.runOne<{ is_mine: boolean }>(TRY_LOCK, [lock]))?.is_mine ?? false;
  }

  /**
   * Runs statements that only read and may be slow, under a common time limit. After the limit, PostgreSQL cancels the
   * running statement. Outside of a transaction each statement takes a slot, so that the searches of one caller leave
   * connections to other callers. If limits are nested, the one that ends first applies.
   * @throws ServiceError 'timeout' with the message of the limit, 'busy' after a long wait for a slot
   */
  async within<T>(limit: TimeLimit, work: () => Promise<T>): Promise<T> {
    const outer = this.limits.value;
    const first = outer?.endsBefore(limit) === true ? outer : limit;
    try {
      return await this.limits.run(first, work);
    } catch (error) {
      throw first.refusalOf(error);
    }
  }

  private async runAlone<Row extends QueryResultRow>(
    signal: EndSignal,
    limit: TimeLimit | undefined,
    send: Send<Row>,
  ): Promise<QueryResult<Row>> {
    const pool = poolOf(this.dataSource);
    if (limit !== undefined)
      return inOwnTransaction(pool, 'BEGIN READ ONLY', (client) =>
        cancelledWhenGone(signal, client, () => sendLimited(client, limit, send)),
      );
    const client = await pool.connect();
    try {
      return await cancelledWhenGone(signal, client, () => send(client));
    } finally {
      client.release();
    }
  }
}

/** Runs a statement of a unit of work under a time limit, in one pipelined round trip with the reset of the limit. */
async function limitedInUnit<Row extends QueryResultRow>(
  unit: PoolClient,
  limit: TimeLimit,
  send: Send<Row>,
): Promise<QueryResult<Row>> {
  const limited = sendLimited(unit, limit, send);
  const [result] = await pipelined([limited, unit.query('SET LOCAL statement_timeout TO DEFAULT')] as const);
  return result;
}

/** Sends a statement of a transaction, and before it the time limit. Both take one pipelined round trip. */
export async function sendLimited<Row extends QueryResultRow>(
  client: PoolClient,
  limit: TimeLimit,
  send: Send<Row>,
): Promise<QueryResult<Row>> {
  const [, result] = await pipelined([
    client.query(`SET LOCAL statement_timeout = ${limit.millisecondsLeft}`),
    send(client),
  ] as const);
  return result;
}

/**
 * The query configs of statements, which all runs of a statement share. For each query the driver copies the own
 * properties of a config one by one, which takes 5 µs for one, while inherited properties cost nothing. A config is
 * frozen, so that a driver that wrote values into it would fail.
 */
const configs = new WeakMap<Statement, QueryConfig>();

export function configOf(statement: Statement): QueryConfig {
  const known = configs.get(statement);
  if (known !== undefined) return known;
  const { name, text } = statement;
  const config = Object.freeze(Object.create({ name, text, types: STATEMENT_TYPES }) as QueryConfig);
  configs.set(statement, config);
  return config;
}

/** Dates as ISO texts: the driver would write them in local time, without the seconds of historical zone offsets. */
export const driverValues = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (value instanceof Date ? value.toISOString() : value));
