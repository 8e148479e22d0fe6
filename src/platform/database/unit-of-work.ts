import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { type PoolClient } from 'pg';
import { DataSource, type ObjectLiteral, type QueryRunner, type Repository } from 'typeorm';
import { TransactionConflict, isTransactionConflict } from './database-error';

interface Unit {
  readonly runner: QueryRunner;
  readonly client: PoolClient;
  /** Work gathered for the end of the transaction, by its key. */
  readonly gathered: Map<symbol, { readonly items: unknown[]; readonly flush: (items: unknown[]) => Promise<void> }>;
  readonly afterCommit: (() => unknown)[];
}

/** A conflict says that somebody else was faster, so a few more tries settle it; a livelock ends as 503. */
const MAX_TRIES = 5;

/**
 * The ambient transaction. A use case opens it with {@link run}; whatever it calls joins without a parameter.
 * Isolation is READ COMMITTED with row locks (ADR 0005).
 */
@Injectable()
export class UnitOfWork {
  private readonly logger = new Logger(UnitOfWork.name);
  private readonly current = new AsyncLocalStorage<Unit>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Opens a transaction for `work`, or joins the open one. Serialization failures, deadlocks and lost create
   * races are tried again from the start, so nothing in `work` may reach outside (HTTP, files).
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.current.getStore() !== undefined) return work();
    for (let tries = 1; ; tries++) {
      try {
        return await this.runOnce(work);
      } catch (error) {
        if (!isTransactionConflict(error) || tries >= MAX_TRIES) throw error;
        await delay(Math.random() * 10 * 2 ** tries);
      }
    }
  }

  get isOpen(): boolean {
    return this.current.getStore() !== undefined;
  }

  /** Runs `work` apart from the open transaction, on connections of its own: it sees what is committed, and nothing else. */
  outside<T>(work: () => T): T {
    return this.current.exit(work);
  }

  /** The connection of the open transaction, for named statements. */
  get client(): PoolClient | undefined {
    return this.current.getStore()?.client;
  }

  /** Binds an injected repository to the open transaction; outside of one it comes back as it is. */
  bind<E extends ObjectLiteral>(repository: Repository<E>): Repository<E> {
    return this.current.getStore()?.runner.manager.withRepository(repository) ?? repository;
  }

  /**
   * Gathers `item` under `key`; `flush` gets all items of the transaction at once, as its last statements
   * before COMMIT, when every row lock is held.
   */
  gather<T>(key: symbol, item: T, flush: (items: T[]) => Promise<void>): void {
    const unit = this.current.getStore();
    if (unit === undefined) throw new Error('gather() needs an open unit of work');
    const group = unit.gathered.get(key) ?? { items: [], flush: (items) => flush(items as T[]) };
    group.items.push(item);
    unit.gathered.set(key, group);
  }

  /** Runs `action` once the transaction has committed; at once when none is open. A failing action is logged. */
  afterCommit(action: () => unknown): void {
    const unit = this.current.getStore();
    if (unit === undefined) this.runLater(action);
    else unit.afterCommit.push(action);
  }

  private async runOnce<T>(work: () => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const unit = await openUnit(runner);
      let isFinished = false;
      try {
        const result = await this.current.run(unit, async () => {
          const value = await work();
          for (const { items, flush } of unit.gathered.values()) await flush(items);
          return value;
        });
        isFinished = true;
        await commit(unit.client);
        for (const action of unit.afterCommit) this.runLater(action);
        return result;
      } finally {
        if (!isFinished) await unit.client.query('ROLLBACK').catch(() => undefined);
        Object.assign(runner, { isTransactionActive: false });
      }
    } finally {
      await runner.release();
    }
  }

  private runLater(action: () => unknown): void {
    // Outside of the storage: the action must not join a transaction that is over.
    this.outside(() => {
      Promise.resolve()
        .then(action)
        .catch((error: unknown) => {
          this.logger.error('An action after a commit failed', error instanceof Error ? error.stack : undefined);
        });
    });
  }
}

/**
 * BEGIN is sent together with the first statement (the pool pipelines), which saves every write a round trip.
 * The runner is told of the transaction, so that repositories bound to it join instead of opening their own.
 */
async function openUnit(runner: QueryRunner): Promise<Unit> {
  const client = (await runner.connect()) as PoolClient;
  client.query('BEGIN').catch(() => undefined); // a broken connection fails the first statement too
  Object.assign(runner, { isTransactionActive: true });
  return { runner, client, gathered: new Map(), afterCommit: [] };
}

async function commit(client: PoolClient): Promise<void> {
  // PostgreSQL answers COMMIT of an aborted transaction with ROLLBACK and no error.
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new TransactionConflict('The transaction was rolled back at its commit');
}
