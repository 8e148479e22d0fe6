import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { type PoolClient } from 'pg';
import { DataSource, type ObjectLiteral, type QueryRunner, type Repository } from 'typeorm';
import { BACKGROUND, type Ticket } from '../admission/ticket';
import { Ambient } from '../ambient';
import { ServiceError } from '../errors/service-error';
import { RequestContext } from '../request/request-context';
import { errorTrace } from '../logging/error-trace';
import { cancelledWhenGone } from './cancelled-when-gone';
import { ConnectionSlots } from './connection-slots';
import { TransactionConflict, isIdleTimeout, isTransactionConflict } from './database-error';
import { pipelined } from './pipelined';
import { EarlyLocks, LockNeeded } from './early-locks';
import { type IsolationLevel } from '../request/isolation-level';
import { type Statement } from './statement';

/** An open transaction. */
class Unit {
  /** Items for the end of the transaction by key, and actions for the time after it. */
  readonly gathered = new Map<symbol, Gathered>();
  readonly afterCommit: (() => unknown)[] = [];
  readonly whenOver: (() => unknown)[] = [];
  /** Whether COMMIT was already sent, together with the last statements. */
  isCommitted = false;
  /** The name of the provider that runs now. The error names it if the transaction stalls. */
  runs: string | undefined;

  /**
   * @param ticket the ticket of the request that began the unit, with its end signal
   * @param locks the locks that are taken before the transaction begins; present only above READ COMMITTED
   */
  constructor(
    readonly runner: QueryRunner,
    readonly client: PoolClient,
    readonly ticket: Ticket,
    readonly locks: EarlyLocks | undefined,
  ) {}
}

/** Marks work outside the open transaction. It continues when the client of its request disconnects. */
const APART = Symbol('apart');

/** The gathered items of a key. */
interface Gathered {
  readonly items: unknown[];
  readonly flush: (items: unknown[]) => Promise<void>;
  readonly isLast: boolean;
}

/**
 * A function that waits for the last statements of `work`, which are pipelined. If `work` began the transaction, COMMIT
 * is sent together with them.
 */
export type Finish = typeof pipelined;

/** The BEGIN of each isolation level (https://www.postgresql.org/docs/current/transaction-iso.html). */
const BEGIN: Readonly<Record<IsolationLevel, string>> = {
  'read-committed': 'BEGIN',
  'repeatable-read': 'BEGIN ISOLATION LEVEL REPEATABLE READ',
  serializable: 'BEGIN ISOLATION LEVEL SERIALIZABLE',
};

/**
 * Tries of a unit of work. After a conflict another write has succeeded, so few are enough; a livelock ends with 503.
 */
const MAX_TRIES = 5;

/**
 * How often a unit restarts for further locks. A unit above READ COMMITTED discovers its locks while it runs, and each
 * restart begins with more of them.
 */
const MAX_LOCKINGS = 50;

/**
 * The ambient transaction. A use case opens a transaction by {@link run}; all code that it calls joins this transaction
 * without a parameter. The isolation level is READ COMMITTED with row locks, unless the request asks for a higher level
 * (ADR 0005).
 * @example
 * await unitOfWork.run(async () => {
 *   await writer.create(ResourceDraft.own('Ward', { beds: 12 }));
 *   await writer.delete('Ward', '4A'); // both or none
 * });
 */
@Injectable()
export class UnitOfWork {
  private readonly logger = new Logger(UnitOfWork.name);
  private readonly current = new Ambient<Unit | typeof APART>();
  private readonly slots: ConnectionSlots;

  /** Statements that a transaction above READ COMMITTED sends first, before its snapshot is taken. */
  private readonly firstStatements: string[] = [];

  /** @internal */
  constructor(
    private readonly dataSource: DataSource,
    private readonly requests: RequestContext,
  ) {
    this.slots = new ConnectionSlots('transaction', dataSource);
  }

  /**
   * Opens a transaction for `work`, or joins the open transaction. A new transaction is restarted after a serialization
   * failure, a deadlock, or a lost race of two creates. So `work` must have no effects outside of the database (HTTP,
   * files). If `work` gathers nothing, it can wait for its last statements by `finish`, which saves a round trip.
   */
  async run<T>(work: (finish: Finish) => Promise<T>): Promise<T> {
    if (this.isOpen) return work(pipelined);
    const locks = this.isStrict ? new EarlyLocks() : undefined;
    const { ticket } = this;
    return this.untilItHolds(() => this.slots.run(ticket, () => this.runOnce(work, ticket, locks)));
  }

  /**
   * Runs `work` that has a single writing statement, which is a transaction by itself. Restarts it like {@link run}.
   * @internal
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    return this.isOpen ? work() : this.untilItHolds(work);
  }

  private async untilItHolds<T>(once: () => Promise<T>): Promise<T> {
    let lockings = 0;
    for (let tries = 1; ;) {
      try {
        return await once();
      } catch (error) {
        if (error instanceof LockNeeded && ++lockings <= MAX_LOCKINGS) continue;
        if (!isTransactionConflict(error)) throw error;
        this.requests.startOver();
        if (tries >= MAX_TRIES) throw this.isStrict ? cannotSerialize(this.level, error) : error;
        await delay(Math.random() * 10 * 2 ** tries++);
      }
    }
  }

  /**
   * Whether the request asks for more than READ COMMITTED, the level of a statement without a transaction. @internal
   */
  get isStrict(): boolean {
    return this.level !== 'read-committed';
  }

  private get level(): IsolationLevel {
    return this.requests.isolationLevel ?? 'read-committed';
  }

  /**
   * Registers a statement that takes no snapshot (`LOCK TABLE`). Each transaction above READ COMMITTED runs it first.
   * Other code relies on this order: the table lock must be older than the snapshot of the writer.
   * @internal
   */
  beginStrictlyWith(text: string): void {
    this.firstStatements.push(text);
  }

  /**
   * @returns true if the locks of the statement are already held; false if the statement must be sent
   * @throws LockNeeded in a unit above READ COMMITTED that began without the locks of the statement
   * @internal
   */
  isHeldEarly(statement: Statement, values: readonly unknown[]): boolean {
    const locks = this.unit?.locks;
    if (statement.lockKey === undefined || locks === undefined) return false;
    locks.assertHeld(statement, values);
    return true;
  }

  get isOpen(): boolean {
    return this.unit !== undefined;
  }

  /**
   * Runs `work` outside the open transaction, on separate connections, so it sees only committed data. It continues
   * when the client of the request disconnects.
   * @internal
   */
  outside<T>(work: () => T): T {
    return this.current.run(APART, work);
  }

  /**
   * The connection of the open transaction, for named statements; undefined if none is open.
   * @internal
   */
  get client(): PoolClient | undefined {
    return this.unit?.client;
  }

  /** The ticket whose signal ends statements: that of the unit or request, or that of background work. @internal */
  get ticket(): Ticket {
    const store = this.current.value;
    return store === APART ? BACKGROUND : (store?.ticket ?? this.requests.ticket);
  }

  /** Identifies the open transaction; undefined if none is open. @internal */
  get unit(): Unit | undefined {
    const store = this.current.value;
    return store === APART ? undefined : store;
  }

  /** Binds an injected repository to the open transaction. If none is open, returns the repository unchanged. */
  bind<E extends ObjectLiteral>(repository: Repository<E>): Repository<E> {
    return this.unit?.runner.manager.withRepository(repository) ?? repository;
  }

  /**
   * Gathers `item` under `key`. `flush` gets all items of the transaction together. It runs the last statements before
   * COMMIT, when all row locks are held.
   * @param isLast whether the items are flushed after all others, so that a row which many transactions write is locked
   * for the shortest time
   * @internal
   */
  gather<T>(key: symbol, item: T, flush: (items: T[]) => Promise<void>, isLast = false): void {
    const { unit } = this;
    if (unit === undefined) throw new Error('There is nothing to gather for without an open unit of work');
    const group = unit.gathered.get(key) ?? { items: [], flush: (items) => flush(items as T[]), isLast };
    group.items.push(item);
    unit.gathered.set(key, group);
  }

  /** Whether the open transaction has gathered an item under `key`. @internal */
  hasGathered(key: symbol): boolean {
    return this.unit?.gathered.has(key) === true;
  }

  /**
   * Runs `action` after the commit of the transaction, or immediately if none is open. If the action fails, the error
   * is logged.
   */
  afterCommit(action: () => unknown): void {
    const { unit } = this;
    if (unit === undefined) void this.runLater(action);
    else unit.afterCommit.push(action);
  }

  /**
   * Runs `action` after the commit or rollback of the transaction, when the connection is free again, or immediately if
   * none is open. {@link run} resolves only after the action. If the action fails, the error is logged.
   */
  async whenOver(action: () => unknown): Promise<void> {
    const { unit } = this;
    if (unit === undefined) await this.runLater(action);
    else unit.whenOver.push(action);
  }

  /**
   * Runs `work` of a provider. If `work` neither ends nor sends a statement, the error contains the name of the
   * provider.
   * @internal
   */
  async inside<T>(provider: string, work: () => Promise<T>): Promise<T> {
    const { unit } = this;
    if (unit === undefined) return work();
    const before = unit.runs;
    unit.runs = provider;
    try {
      return await work();
    } finally {
      unit.runs = before;
    }
  }

  private async runOnce<T>(
    work: (finish: Finish) => Promise<T>,
    ticket: Ticket,
    locks: EarlyLocks | undefined,
  ): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    const client = (await runner.connect()) as PoolClient;
    const unit = new Unit(runner, client, ticket, locks);
    try {
      let isFinished = false;
      try {
        if (locks !== undefined) await cancelledWhenGone(ticket.signal, client, () => locks.take(client));
        const beginSql = BEGIN[this.level];
        begin(unit, locks?.beginSql([beginSql, ...this.firstStatements]) ?? beginSql);
        const result = await this.untilLost(unit, () =>
          this.current.run(unit, async () => {
            const value = await work(finishing(unit));
            for (const isLast of [false, true])
              for (const group of unit.gathered.values()) if (group.isLast === isLast) await group.flush(group.items);
            return value;
          }),
        );
        isFinished = true;
        if (!unit.isCommitted) await commit(client);
        for (const action of unit.afterCommit) void this.runLater(action);
        return result;
      } finally {
        if (!isFinished) await (locks?.rollBack(client) ?? client.query('ROLLBACK').catch(() => undefined));
        Object.assign(runner, { isTransactionActive: false });
      }
    } finally {
      await runner.release();
      for (const action of unit.whenOver) await this.runLater(action);
    }
  }

  /**
   * Runs `work`, and ends it when the connection is lost. A lost connection only makes later statements fail. Work that
   * waits for something other than its connection would not notice, and would hold the connection forever.
   */
  private async untilLost<T>(unit: Unit, work: () => Promise<T>): Promise<T> {
    let onEnd = (): void => undefined;
    let cause = new Error('Connection terminated');
    const onError = (error: Error): void => {
      cause = error;
    };
    let timer: NodeJS.Timeout | undefined;
    const lost = new Promise<never>((_resolve, reject) => {
      onEnd = () => {
        timer = setTimeout(() => {
          reject(isIdleTimeout(cause) ? this.stoodStill(unit) : cause);
        }, STATEMENTS_FAIL_MILLISECONDS).unref();
      };
    });
    unit.client.once('error', onError);
    unit.client.once('end', onEnd);
    const running = work();
    try {
      return await Promise.race([running, lost]);
    } finally {
      unit.client.off('error', onError);
      unit.client.off('end', onEnd);
      clearTimeout(timer); // work that failed with its connection did not stand still
    }
  }

  private stoodStill(unit: Unit): ServiceError {
    this.logger.error(`${unit.runs ?? 'Work'} neither ended nor sent a statement: its transaction was rolled back`);
    const message = 'A transaction of this request stood still and was rolled back.';
    return new ServiceError('transaction-timeout', message);
  }

  private runLater(action: () => unknown): Promise<unknown> {
    // The action runs outside, so that it does not join the transaction that has ended.
    return this.outside(() =>
      Promise.resolve()
        .then(action)
        .catch((error: unknown) => {
          this.logger.error('An action after a transaction failed', errorTrace(error));
        }),
    );
  }
}

/**
 * Begins a transaction. BEGIN is pipelined with the first statement, which saves a round trip per write. The query
 * runner is marked as inside a transaction, so that repositories bound to it do not open another one.
 */
function begin({ runner, client }: Unit, sql: string): void {
  // One socket write for BEGIN and the statements of the same turn, since each write wakes the backend.
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => {
    stream.uncork();
  });
  client.query(sql).catch(() => undefined); // ignored: if the connection broke, the first statement fails too
  Object.assign(runner, { isTransactionActive: true });
}

/**
 * How long work on a lost connection may go on before it is ended. Statements that wait on the connection fail earlier,
 * with a better reason.
 */
const STATEMENTS_FAIL_MILLISECONDS = 100;

const cannotSerialize = (level: IsolationLevel, cause: unknown): ServiceError =>
  new ServiceError(
    'isolation-conflict',
    `Other writes got in the way ${MAX_TRIES} times at isolation level ${level}. Read again and repeat the change, or ask for a lower x-max-isolation-level.`,
    {},
    { cause },
  );

/**
 * Returns the `finish` of a unit: it sends COMMIT with the last statements. If a statement failed, PostgreSQL rolls
 * back instead.
 */
function finishing(unit: Unit): Finish {
  return async (sent) => {
    if (unit.gathered.size > 0) throw new Error('The gathered statements would run after the COMMIT');
    const [results] = await pipelined([pipelined(sent), commit(unit.client)]);
    unit.isCommitted = true;
    return results;
  };
}

async function commit(client: PoolClient): Promise<void> {
  // For the COMMIT of an aborted transaction, PostgreSQL answers ROLLBACK and no error.
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new TransactionConflict('The transaction was rolled back at its commit');
}
