import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { type Pool, type PoolClient, type QueryConfig, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { type PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { databaseErrorToServiceError } from './database-error';
import { inOneFlight } from './in-one-flight';
import { STATEMENT_TYPES, type Statement, TEXT_INSTANT_TYPES } from './statement';
import { type TimeLimit } from './time-limit';
import { UnitOfWork } from './unit-of-work';

/**
 * Runs named statements on TypeORM's own pool: in the open unit of work, else on a connection of their own.
 * For the hot paths; the same SQL through a repository costs 6 to 8 times as much (ADR 0004).
 */
@Injectable()
export class Statements {
  private readonly limits = new AsyncLocalStorage<TimeLimit>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    if (this.unitOfWork.isHeldEarly(statement, values)) return [];
    const [config, given] = [configOf(statement), valuesOf(values)];
    const limit = this.limits.getStore();
    if (limit?.isKept === false) return this.runLimited<Row>(limit, config, given);
    return (await (this.unitOfWork.client ?? this.pool).query<Row>(config, given)).rows;
  }

  async runOne<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.run<Row>(statement, values))[0];
  }

  /**
   * Runs reading statements under a common time limit: whatever `work` runs here, PostgreSQL cancels when the time is over.
   * @throws ServiceError 'timeout' with the message of the limit
   */
  async within<T>(limit: TimeLimit, work: () => Promise<T>): Promise<T> {
    try {
      return await this.limits.run(limit, work);
    } catch (error) {
      throw databaseErrorToServiceError(error)?.kind === 'timeout' ? limit.refusal(error) : error;
    }
  }

  /** All commands travel in one flight. */
  private async runLimited<Row extends QueryResultRow>(
    limit: TimeLimit,
    config: QueryConfig,
    values: unknown[],
  ): Promise<Row[]> {
    const { client: unit } = this.unitOfWork;
    if (unit !== undefined) {
      const [, result] = await inOneFlight([
        unit.query(`SET LOCAL statement_timeout = ${limit.millisecondsLeft}`),
        unit.query<Row>(config, values),
        unit.query('SET LOCAL statement_timeout TO DEFAULT'),
      ] as const);
      return result.rows;
    }
    const client: PoolClient = await this.pool.connect();
    client.on('error', ignored);
    try {
      const milliseconds = limit.millisecondsLeft;
      const [, , result] = await Promise.all([
        client.query('BEGIN READ ONLY'),
        client.query(`SET LOCAL statement_timeout = ${milliseconds}`),
        client.query<Row>(config, values),
      ]);
      return result.rows;
    } finally {
      const broken = await client.query('COMMIT').then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      client.off('error', ignored);
      client.release(broken);
    }
  }

  private get pool(): Pool {
    return (this.dataSource.driver as PostgresDriver).master as Pool;
  }
}

/**
 * Heard while a connection is held: one that breaks fails the statement that runs, or the next one, but an event that nobody hears would end
 * the process.
 */
export const ignored = (): void => undefined;

/**
 * What is the same at each run of a statement. The driver copies the own properties of a config one by one for each query;
 * what a config inherits costs it nothing. All runs share it, so it is frozen: a driver that wrote values into it would fail.
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

/** The driver would write dates in the zone of this process, whose old offsets have seconds that it leaves out. */
export const valuesOf = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (value instanceof Date ? value.toISOString() : value));
