import { type PoolClient, escapeLiteral } from 'pg';
import { TransactionConflict } from './database-error';
import { type Statement } from './statement';

/** A unit above READ COMMITTED reached a lock that it must take before it begins: it restarts with that lock. */
export class LockNeeded extends TransactionConflict {
  constructor(
    readonly keySql: string,
    readonly keys: readonly string[],
  ) {
    super('A lock has to be held before the transaction begins');
  }
}

/**
 * The advisory locks of a unit above READ COMMITTED. Its snapshot is taken with its first statement. After waiting for
 * a later lock, it would still not see what the previous holder wrote. So the session takes these locks before BEGIN,
 * and the transaction takes them over. They exclude the same locks of ordinary transactions.
 */
export class EarlyLocks {
  private readonly keysBySql = new Map<string, Set<string>>();

  /** Number of locks. */
  get size(): number {
    return [...this.keysBySql.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** @throws LockNeeded unless the locks that `statement` would take are among them. */
  assertHeld({ lockKey = '' }: Statement, [value]: readonly unknown[]): void {
    const keys = (Array.isArray(value) ? value : [value]).map(String);
    const held = this.keysBySql.get(lockKey);
    if (keys.every((key) => held?.has(key))) return;
    throw new LockNeeded(lockKey, keys);
  }

  add({ keySql, keys }: LockNeeded): void {
    this.keysBySql.set(keySql, new Set([...(this.keysBySql.get(keySql) ?? []), ...keys]));
  }

  /** Keeps a transaction open, since behind a pooler a session stays with a client only during a transaction. */
  async take(client: PoolClient): Promise<void> {
    if (this.size > 0) await client.query(`BEGIN; ${this.lockingBy('pg_advisory_lock')}`);
  }

  /**
   * SQL of the transaction that holds the locks to its end. It starts with `begin` and statements that take no
   * snapshot.
   */
  beginSql(begin: readonly string[]): string {
    const own = [this.lockingBy('pg_advisory_xact_lock'), RELEASE_ALL];
    return (this.size === 0 ? begin : ['COMMIT', ...begin, ...own]).join('; ');
  }

  /** Behind a pooler, the session passes to another client once its transaction ends, so both travel in one message. */
  async rollBack(client: PoolClient): Promise<void> {
    await client.query(`ROLLBACK; ${RELEASE_ALL}`).catch(() => {
      client.connection.stream.destroy(); // destroyed, because it may still hold the locks
    });
  }

  /** Locks in one global order, which prevents deadlocks. */
  private lockingBy(name: string): string {
    return [...this.keysBySql]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([keySql, keys]) =>
          `select ${name}(${keySql}) from (select unnest(array[${[...keys].map(escapeLiteral).join(', ')}]::text[]) k order by 1) held`,
      )
      .join('; ');
  }
}

/** Releases the locks of the session; the transaction keeps its own. */
const RELEASE_ALL = 'select pg_advisory_unlock_all()';
