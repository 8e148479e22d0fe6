import { Injectable } from '@nestjs/common';
import { type Pool, type PoolClient, type QueryConfig, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { type PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { STATEMENT_TYPES, type Statement, TEXT_INSTANT_TYPES } from './statement';
import { UnitOfWork } from './unit-of-work';

/**
 * Runs named statements on TypeORM's own pool: in the open unit of work, else on a connection of their own.
 * For the hot paths; the same SQL through a repository costs 6 to 8 times as much (ADR 0004).
 */
@Injectable()
export class Statements {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { rows } = await (this.unitOfWork.client ?? this.pool).query<Row>(configOf(statement), valuesOf(values));
    return rows;
  }

  async runOne<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.run<Row>(statement, values))[0];
  }

  /**
   * Runs a reading statement under a time limit of its own; PostgreSQL cancels it with SQLSTATE 57014.
   * All four commands travel in one flight.
   */
  async runLimited<Row extends QueryResultRow>(
    timeoutSeconds: number,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const client: PoolClient = await this.pool.connect();
    try {
      const [, , result] = await Promise.all([
        client.query('BEGIN READ ONLY'),
        client.query(`SET LOCAL statement_timeout = ${Math.trunc(timeoutSeconds * 1000)}`),
        client.query<Row>(configOf(statement), valuesOf(values)),
      ]);
      return result.rows;
    } finally {
      const broken = await client.query('COMMIT').then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      client.release(broken);
    }
  }

  private get pool(): Pool {
    return (this.dataSource.driver as PostgresDriver).master as Pool;
  }
}

/**
 * What is the same at each run of a statement. The driver copies the own properties of a config one by one for each query;
 * what a config inherits costs it nothing.
 */
const configs = new WeakMap<Statement, QueryConfig>();

function configOf(statement: Statement): QueryConfig {
  const known = configs.get(statement);
  if (known !== undefined) return known;
  const { name, text, hasTextInstants } = statement;
  const types = hasTextInstants === true ? TEXT_INSTANT_TYPES : STATEMENT_TYPES;
  const config = Object.create({ name, text, types }) as QueryConfig;
  configs.set(statement, config);
  return config;
}

/** The driver would write dates in the zone of this process, whose old offsets have seconds that it leaves out. */
const valuesOf = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (value instanceof Date ? value.toISOString() : value));
