import { Injectable } from '@nestjs/common';
import { type PoolClient, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { type EndSignal } from '../admission/request-end';
import { type Slots, type Waiter } from '../admission/slots';
import { BACKGROUND, type Ticket } from '../admission/ticket';
import { Ambient } from '../ambient';
import { cancelledWhenGone } from './cancelled-when-gone';
import { connectionSlots, poolOf } from './connection-slots';
import { databaseErrorToServiceError } from './database-error';
import { inOneFlight } from './in-one-flight';
import { STATEMENT_TYPES, type Statement, TEXT_INSTANT_TYPES } from './statement';
import { type TimeLimit } from './time-limit';
import { UnitOfWork } from './unit-of-work';

const TRY_LOCK: Statement = { name: 'try-lock', text: 'select pg_try_advisory_xact_lock($1) as is_mine' };

/**
 * Sends a statement with its values. Not an async function, since each one costs a hundredth of the CPU time of a
 * one-row read.
 */
type Send<Row extends QueryResultRow> = (client: PoolClient) => Promise<QueryResult<Row>>;

/**
 * Runs named statements on TypeORM's pool: in the open unit of work, else on a separate connection. For the hot paths,
 * since the same SQL through a repository costs 6 to 8 times as much (ADR 0004). When the client of the request
 * disconnects, PostgreSQL cancels them.
 */
@Injectable()
export class Statements {
  private readonly limits = new Ambient<TimeLimit>();
  private slots: Slots | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

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
    const isFree = limit === undefined || ticket === BACKGROUND;
    return (await (isFree ? alone() : this.searchSlots.run(waiterOf(ticket), alone))).rows;
  }

  async runOne<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.run<Row>(statement, values))[0];
  }

  /**
   * Takes an advisory lock until the open transaction ends.
   * @returns false if another transaction holds it
   */
  async tryLock(lock: number): Promise<boolean> {
    return (await this.runOne<{ is_mine: boolean }>(TRY_LOCK, [lock]))?.is_mine ?? false;
  }

  /**
   * Runs possibly slow reading statements under a common time limit; after it, PostgreSQL cancels the running one.
   * Outside of a transaction each takes a slot, so that one caller's searches leave connections to others. Of nested
   * limits, the earliest applies.
   * @throws ServiceError 'timeout' with the message of the limit, 'busy' after a long wait for a slot
   */
  async within<T>(limit: TimeLimit, work: () => Promise<T>): Promise<T> {
    const outer = this.limits.value;
    const first = outer?.endsBefore(limit) === true ? outer : limit;
    try {
      return await this.limits.run(first, work);
    } catch (error) {
      throw databaseErrorToServiceError(error)?.kind === 'timeout' ? first.refusal(error) : error;
    }
  }

  private async runAlone<Row extends QueryResultRow>(
    signal: EndSignal,
    limit: TimeLimit | undefined,
    send: Send<Row>,
  ): Promise<QueryResult<Row>> {
    const client: PoolClient = await poolOf(this.dataSource).connect();
    let broken: Error | undefined;
    try {
      return await cancelledWhenGone(signal, client, () =>
        limit === undefined ? send(client) : limitedAlone(client, limit, send),
      );
    } finally {
      if (limit !== undefined) broken = await failureOf(client, 'COMMIT');
      client.release(broken);
    }
  }

  private get searchSlots(): Slots {
    return (this.slots ??= connectionSlots('search', this.dataSource));
  }
}

const waiterOf = ({ caller, signal }: Ticket): Waiter => ({ key: caller, signal });

/**
 * Runs a command that may fail.
 * @returns its error, with which the connection is destroyed
 */
export const failureOf = (client: PoolClient, command: 'COMMIT' | 'ROLLBACK'): Promise<Error | undefined> =>
  client.query(command).then(
    () => undefined,
    (error: unknown) => error as Error,
  );

/** All commands take one pipelined round trip. */
async function limitedInUnit<Row extends QueryResultRow>(
  unit: PoolClient,
  limit: TimeLimit,
  send: Send<Row>,
): Promise<QueryResult<Row>> {
  const [, result] = await inOneFlight([
    unit.query(`SET LOCAL statement_timeout = ${limit.millisecondsLeft}`),
    send(unit),
    unit.query('SET LOCAL statement_timeout TO DEFAULT'),
  ] as const);
  return result;
}

async function limitedAlone<Row extends QueryResultRow>(
  client: PoolClient,
  limit: TimeLimit,
  send: Send<Row>,
): Promise<QueryResult<Row>> {
  const milliseconds = limit.millisecondsLeft;
  const [, , result] = await inOneFlight([
    client.query('BEGIN READ ONLY'),
    client.query(`SET LOCAL statement_timeout = ${milliseconds}`),
    send(client),
  ] as const);
  return result;
}

/**
 * The constant part of each run of a statement. For each query the driver copies the own properties of a config one by
 * one; inherited ones cost nothing. All runs share this object, so it is frozen: a driver that wrote values into it
 * would fail.
 */
const configs = new WeakMap<Statement, QueryConfig>();

export function configOf(statement: Statement): QueryConfig {
  const known = configs.get(statement);
  if (known !== undefined) return known;
  const { name, text, hasTextInstants } = statement;
  const types = hasTextInstants === true ? TEXT_INSTANT_TYPES : STATEMENT_TYPES;
  const config = Object.freeze(Object.create({ name, text, types }) as QueryConfig);
  configs.set(statement, config);
  return config;
}

/** The driver would write dates in the zone of this process, and omit the seconds of old zone offsets. */
export const driverValues = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (value instanceof Date ? value.toISOString() : value));
