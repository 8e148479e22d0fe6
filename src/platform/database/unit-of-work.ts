import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { type PoolClient } from 'pg';
import { DataSource, type ObjectLiteral, type QueryRunner, type Repository } from 'typeorm';
import { type Slots } from '../admission/slots';
import { BACKGROUND, type Ticket } from '../admission/ticket';
import { Ambient } from '../ambient';
import { ServiceError } from '../errors/service-error';
import { RequestContext } from '../request/request-context';
import { errorTrace } from '../logging/error-trace';
import { cancelledWhenGone } from './cancelled-when-gone';
import { connectionSlots } from './connection-slots';
import { TransactionConflict, isTransactionConflict } from './database-error';
import { inOneFlight } from './in-one-flight';
import { EarlyLocks, LockNeeded } from './early-locks';
import { type IsolationLevel } from '../request/isolation-level';
import { type Statement } from './statement';

interface Unit {
  readonly runner: QueryRunner;
  readonly client: PoolClient;
  /** End signal of the request that began it. */
  readonly ticket: Ticket;
  /** Present above READ COMMITTED: the locks that are taken before the transaction begins. */
  readonly locks: EarlyLocks | undefined;
  /** Work gathered for the end of the transaction, and for the time after it. */
  readonly gathered: Gathered;
  readonly gatheredLast: Gathered;
  readonly afterCommit: (() => unknown)[];
  readonly whenOver: (() => unknown)[];
  /** Whether COMMIT was sent with the last statements. */
  isCommitted: boolean;
  /** The running provider: the error names it if the transaction stalls. */
  runs: string | undefined;
}

/** Marks work for other requests: it is in no transaction, and continues when its request is no longer wanted. */
const APART = Symbol('apart');

/** Items by their key, with the function that flushes all items of a key. */
type Gathered = Map<symbol, { readonly items: unknown[]; readonly flush: (items: unknown[]) => Promise<void> }>;

/**
 * Waits for pipelined statements, the last ones of `work`: if `work` began the transaction, COMMIT is sent with them.
 */
export type Finish = typeof inOneFlight;

/** https://www.postgresql.org/docs/current/transaction-iso.html */
const BEGIN: Readonly<Record<IsolationLevel, string>> = {
  'read-committed': 'BEGIN',
  'repeatable-read': 'BEGIN ISOLATION LEVEL REPEATABLE READ',
  serializable: 'BEGIN ISOLATION LEVEL SERIALIZABLE',
};

/** After a conflict another write was faster, so a few more tries suffice; a livelock ends as 503. */
const MAX_TRIES = 5;

/** A unit discovers its locks while it runs; each restart begins with more of them. */
const MAX_LOCKINGS = 50;

/**
 * The ambient transaction. A use case opens it with {@link run}; whatever it calls joins without a parameter.
 * Isolation is READ COMMITTED with row locks, unless the request asks for more (ADR 0005).
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
  private slots: Slots | undefined;

  /** Sent first above READ COMMITTED, before the snapshot. */
  private readonly firstStatements: string[] = [];

  /** @internal */
  constructor(
    private readonly dataSource: DataSource,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Opens a transaction for `work`, or joins the open one. Serialization failures, deadlocks and lost create races
   * restart it, so `work` must have no effects outside of the database (HTTP, files). Work that gathers nothing can
   * wait for its last statements by `finish`, which saves a round trip.
   */
  async run<T>(work: (finish: Finish) => Promise<T>): Promise<T> {
    if (this.isOpen) return work(inOneFlight);
    const level = this.requests.isolationLevel ?? 'read-committed';
    const locks = level === 'read-committed' ? undefined : new EarlyLocks();
    const { ticket } = this;
    const once = (): Promise<T> => this.runOnce(work, ticket, level, locks);
    const inTurn = (): Promise<T> => this.transactionSlots.run({ key: ticket.caller, signal: ticket.signal }, once);
    return this.untilItHolds(ticket === BACKGROUND ? once : inTurn, level, locks);
  }

  /**
   * For `work` with a single writing statement, which is a transaction by itself: restarts it like {@link run}.
   * @internal
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    return this.isOpen ? work() : this.untilItHolds(work, 'read-committed');
  }

  private async untilItHolds<T>(once: () => Promise<T>, level: IsolationLevel, locks?: EarlyLocks): Promise<T> {
    let lockings = 0;
    for (let tries = 1; ;) {
      try {
        return await once();
      } catch (error) {
        if (error instanceof LockNeeded && ++lockings <= MAX_LOCKINGS) {
          locks?.add(error);
          continue;
        }
        if (!isTransactionConflict(error)) throw error;
        this.requests.startOver();
        if (tries >= MAX_TRIES) throw locks === undefined ? error : cannotSerialize(level, error);
        await delay(Math.random() * 10 * 2 ** tries++);
      }
    }
  }

  /**
   * Whether the request requires more than READ COMMITTED, the level of a statement without a transaction.
   * @internal
   */
  get isStrict(): boolean {
    return (this.requests.isolationLevel ?? 'read-committed') !== 'read-committed';
  }

  /**
   * Registers a statement without a snapshot (`LOCK TABLE`) that stricter units run first. Other code relies on the
   * table lock being older than the writer's snapshot.
   * @internal
   */
  beginStrictlyWith(text: string): void {
    this.firstStatements.push(text);
  }

  /**
   * @returns whether the lock is already held; false if it must be sent
   * @throws LockNeeded in a stricter unit that began without the locks of the statement
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
   * Runs `work` outside the open transaction, on separate connections: it sees only committed data. It continues when
   * the client of the request disconnects.
   * @internal
   */
  outside<T>(work: () => T): T {
    return this.current.run(APART, work);
  }

  /**
   * The connection of the open transaction, for named statements.
   * @internal
   */
  get client(): PoolClient | undefined {
    return this.unit?.client;
  }

  /**
   * The signal that ends statements, by the caller's ticket.
   * @internal
   */
  get ticket(): Ticket {
    const store = this.current.value;
    return store === APART ? BACKGROUND : (store?.ticket ?? this.requests.ticket);
  }

  private get unit(): Unit | undefined {
    const store = this.current.value;
    return store === APART ? undefined : store;
  }

  private get transactionSlots(): Slots {
    return (this.slots ??= connectionSlots('transaction', this.dataSource));
  }

  /** Binds an injected repository to the open transaction; returns it unchanged if there is none. */
  bind<E extends ObjectLiteral>(repository: Repository<E>): Repository<E> {
    return this.unit?.runner.manager.withRepository(repository) ?? repository;
  }

  /**
   * Gathers `item` under `key`. `flush` receives all items of the transaction together; it runs as the last statements
   * before COMMIT, when all row locks are held.
   * @internal
   */
  gather<T>(key: symbol, item: T, flush: (items: T[]) => Promise<void>): void {
    add(this.openUnit.gathered, key, item, flush);
  }

  /**
   * Like {@link gather}, but flushed last, so that hot rows are locked for the shortest time.
   * @internal
   */
  gatherLast<T>(key: symbol, item: T, flush: (items: T[]) => Promise<void>): void {
    add(this.openUnit.gatheredLast, key, item, flush);
  }

  /**
   * Whether the open transaction has gathered an item under `key`.
   * @internal
   */
  hasGathered(key: symbol): boolean {
    const { unit } = this;
    return unit !== undefined && (unit.gathered.has(key) || unit.gatheredLast.has(key));
  }

  /** Runs `action` after the commit of the transaction; immediately if none is open. A failing action is logged. */
  afterCommit(action: () => unknown): void {
    const { unit } = this;
    if (unit === undefined) void this.runLater(action);
    else unit.afterCommit.push(action);
  }

  /**
   * Runs `action` after the commit or rollback of the transaction, when its connection is free; immediately if none is
   * open. The caller of {@link run} continues after it. A failing action is logged.
   */
  async whenOver(action: () => unknown): Promise<void> {
    const { unit } = this;
    if (unit === undefined) await this.runLater(action);
    else unit.whenOver.push(action);
  }

  /**
   * Runs `work` of a provider, whose name appears in the error if it neither ends nor sends a statement.
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

  private get openUnit(): Unit {
    const { unit } = this;
    if (unit === undefined) throw new Error('There is nothing to gather for without an open unit of work');
    return unit;
  }

  private async runOnce<T>(
    work: (finish: Finish) => Promise<T>,
    ticket: Ticket,
    level: IsolationLevel,
    locks: EarlyLocks | undefined,
  ): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    const client = (await runner.connect()) as PoolClient;
    let whenOver: Unit['whenOver'] = [];
    try {
      let isFinished = false;
      try {
        if (locks !== undefined) await cancelledWhenGone(ticket.signal, client, () => locks.take(client));
        const unit = openUnit(
          runner,
          client,
          ticket,
          locks,
          locks?.beginSql([BEGIN[level], ...this.firstStatements]) ?? BEGIN[level],
        );
        ({ whenOver } = unit);
        const result = await this.untilLost(unit, () =>
          this.current.run(unit, async () => {
            const value = await work(finishing(unit));
            for (const gathered of [unit.gathered, unit.gatheredLast]) {
              for (const { items, flush } of gathered.values()) await flush(items);
            }
            return value;
          }),
        );
        isFinished = true;
        if (!unit.isCommitted) await commit(unit.client);
        for (const action of unit.afterCommit) void this.runLater(action);
        return result;
      } finally {
        if (!isFinished) await (locks?.rollBack(client) ?? client.query('ROLLBACK').catch(() => undefined));
        Object.assign(runner, { isTransactionActive: false });
      }
    } finally {
      await runner.release();
      for (const action of whenOver) await this.runLater(action);
    }
  }

  /**
   * Work that waits for something other than its connection would hold it forever. PostgreSQL ends the session of an
   * idle transaction (`idle_in_transaction_session_timeout`), which only fails its statements; so this ends the work
   * too.
   */
  private async untilLost<T>(unit: Unit, work: () => Promise<T>): Promise<T> {
    let onEnd = (): void => undefined;
    const lost = new Promise<never>((_resolve, reject) => {
      onEnd = () =>
        setTimeout(() => {
          this.logger.error(
            `${unit.runs ?? 'Work'} neither ended nor sent a statement: its transaction was rolled back`,
          );
          reject(
            new ServiceError('timeout', 'A transaction of this request stood still and was rolled back.', {
              code: 'transaction-timeout',
            }),
          );
        }, STATEMENTS_FAIL_MILLISECONDS).unref();
    });
    unit.client.once('end', onEnd);
    const running = work();
    try {
      return await Promise.race([running, lost]);
    } finally {
      unit.client.off('end', onEnd);
    }
  }

  private runLater(action: () => unknown): Promise<unknown> {
    // Runs outside the storage, so that the action does not join the ended transaction.
    return this.outside(() =>
      Promise.resolve()
        .then(action)
        .catch((error: unknown) => {
          this.logger.error('An action after a transaction failed', errorTrace(error));
        }),
    );
  }
}

function add<T>(gathered: Gathered, key: symbol, item: T, flush: (items: T[]) => Promise<void>): void {
  const group = gathered.get(key) ?? { items: [], flush: (items) => flush(items as T[]) };
  group.items.push(item);
  gathered.set(key, group);
}

/**
 * BEGIN is pipelined with the first statement, which saves a round trip per write. The runner is marked as inside a
 * transaction, so that repositories bound to it join instead of opening another one.
 */
function openUnit(
  runner: QueryRunner,
  client: PoolClient,
  ticket: Ticket,
  locks: EarlyLocks | undefined,
  begin: string,
): Unit {
  // One socket write for BEGIN and the statements of the same turn, since each write wakes the backend.
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => {
    stream.uncork();
  });
  client.query(begin).catch(() => undefined); // a broken connection makes the first statement fail too
  Object.assign(runner, { isTransactionActive: true });
  return {
    runner,
    client,
    ticket,
    locks,
    gathered: new Map(),
    gatheredLast: new Map(),
    afterCommit: [],
    whenOver: [],
    isCommitted: false,
    runs: undefined,
  };
}

/** Statements on a lost connection fail first, with a better reason. */
const STATEMENTS_FAIL_MILLISECONDS = 100;

const cannotSerialize = (level: IsolationLevel, cause: unknown): ServiceError =>
  new ServiceError(
    'precondition-failed',
    `Other writes got in the way ${MAX_TRIES} times at isolation level ${level}. Read again and repeat the change, or ask for a lower x-max-isolation-level.`,
    { code: 'isolation-conflict' },
    { cause },
  );

/** Sends COMMIT with the last statements of a unit; if one of them failed, PostgreSQL rolls back. */
function finishing(unit: Unit): Finish {
  return async (sent) => {
    if (unit.gathered.size + unit.gatheredLast.size > 0)
      throw new Error('The gathered statements would run after the COMMIT');
    const [results] = await inOneFlight([inOneFlight(sent), commit(unit.client)]);
    unit.isCommitted = true;
    return results;
  };
}

async function commit(client: PoolClient): Promise<void> {
  // PostgreSQL answers COMMIT of an aborted transaction with ROLLBACK, and without an error.
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new TransactionConflict('The transaction was rolled back at its commit');
}
