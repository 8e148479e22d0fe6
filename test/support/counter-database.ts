import { Column, DataSource, Entity, PrimaryColumn, type Repository } from 'typeorm';
import { dataSourceOptions } from '../../src/platform/database/data-source-options';
import { type Statement } from '../../src/platform/database/statement';
import { Statements } from '../../src/platform/database/statements';
import { UnitOfWork } from '../../src/platform/database/unit-of-work';
import { RequestContext } from '../../src/platform/request/request-context';
import { type ClonedDatabase, cloneDatabase } from '../../testing/test-databases';

@Entity('counter')
export class Counter {
  @PrimaryColumn('text')
  name!: string;

  @Column('bigint')
  value!: number;
}

export const COUNTER_ADD: Statement = {
  name: 'counter-add',
  text: 'update counter set value = value + $2 where name = $1 returning value',
};

export const COUNTER_READ: Statement = { name: 'counter-read', text: 'select value from counter where name = $1' };

const IN_TRANSACTION: Statement = {
  name: 'in-transaction',
  text: `select count(*) as count from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`,
};

/** A separate database with a table of counters, for specs of code below the modules. */
export class CounterDatabase {
  readonly requests = new RequestContext();
  readonly unitOfWork: UnitOfWork;
  readonly statements: Statements;
  readonly counters: Repository<Counter>;

  private constructor(
    private readonly database: ClonedDatabase,
    readonly dataSource: DataSource,
  ) {
    this.unitOfWork = new UnitOfWork(dataSource, this.requests);
    this.statements = new Statements(dataSource, this.unitOfWork);
    this.counters = dataSource.getRepository(Counter);
  }

  static async open(): Promise<CounterDatabase> {
    const database = await cloneDatabase();
    const dataSource = new DataSource({ ...dataSourceOptions(database.url), entities: [Counter] });
    await dataSource.initialize();
    await dataSource.query('create table counter (name text primary key, value bigint not null)');
    return new CounterDatabase(database, dataSource);
  }

  /** Resets the counters a and b to 0. */
  async reset(): Promise<void> {
    await this.dataSource.query('truncate counter');
    await this.dataSource.query(`insert into counter values ('a', 0), ('b', 0)`);
  }

  /** Adds to a counter, within the open unit of work if there is one. */
  async add(name: string, amount = 1): Promise<void> {
    await this.statements.run(COUNTER_ADD, [name, amount]);
  }

  /** The counter as the open unit of work, if any, sees it; `undefined` if it does not exist. */
  async findValue(name: string): Promise<unknown> {
    return (await this.statements.runOne(COUNTER_READ, [name]))?.value;
  }

  /** Number of connections left inside a transaction. */
  async countInTransaction(): Promise<unknown> {
    return (await this.statements.runOne(IN_TRANSACTION, []))?.count;
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
    await this.database.drop();
  }
}
