import { type PoolClient, escapeLiteral } from 'pg';
import { TransactionConflict } from './database-error';
import { type Statement } from './statement';

/**
 * Thrown when a unit of work above READ COMMITTED needs a lock that must be taken before the unit begins. The unit
 * restarts with that lock.
 */
export class LockNeeded extends TransactionConflict {}

/**
 * The advisory locks of a unit of work above READ COMMITTED. The snapshot of such a unit is taken with its first
 * statement. If the unit waited for a lock later, it would not see what the previous lock holder wrote. So the session
 * takes the locks before BEGIN, and then the transaction takes the same locks. These locks conflict with those that
 * ordinary transactions take.
 */
export class EarlyLocks {
  private readonly keysBySql = new Map<string, Set<string>>();

  /**
   * Checks that all locks that `statement` would take are held.
   * @throws LockNeeded if not. The next transaction of the unit takes them
   */
  assertHeld({ lockKey = '' }: Statement, [value]: readonly unknown[]): void {
    const keys = (Array.isArray(value) ? value : [value]).map(String);
    const held = this.keysBySql.get(lockKey) ?? new Set();
    if (keys.every((key) => held.has(key))) return;
    this.keysBySql.set(lockKey, new Set([...held, ...keys]));
    throw new LockNeeded('A lock has to be held before the transaction begins');
  }

  /**
   * Takes the locks of the session. It leaves a transaction open: behind a pooler, a client keeps its session only
   * during a transaction.
   */
  async take(client: PoolClient): Promise<void> {
    if (this.keysBySql.size > 0) await client.query(`BEGIN; ${this.lockingBy('pg_advisory_lock')}`);
  }

  /**
   * Returns the SQL that begins the transaction, which then holds the locks to its end. `begin` has BEGIN and
   * statements that take no snapshot.
   */
  beginSql(begin: readonly string[]): string {
    const own = [this.lockingBy('pg_advisory_xact_lock'), RELEASE_ALL];
    return (this.keysBySql.size === 0 ? begin : ['COMMIT', ...begin, ...own]).join('; ');
  }

  /**
   * Rolls back and releases the locks, in one message: behind a pooler, another client gets the session as soon as the
   * transaction ends.
   */
  async rollBack(client: PoolClient): Promise<void> {
    await client.query(`ROLLBACK; ${RELEASE_ALL}`).catch(() => {
      client.connection.stream.destroy(); // the connection may still hold the locks
    });
  }

  /** SQL that takes the locks by the function `name`, in the same order in all units, which prevents deadlocks. */
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

/** Releases the locks of the session. Those of the transaction stay. */
const RELEASE_ALL = 'select pg_advisory_unlock_all()';
