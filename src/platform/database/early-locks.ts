import { type PoolClient, escapeLiteral } from 'pg';
import { TransactionConflict } from './database-error';
import { type Statement } from './statement';

/** A unit above READ COMMITTED came to a lock that had to be taken before it began: it starts over with it. */
export class LockNeeded extends TransactionConflict {
  constructor(
    readonly keySql: string,
    readonly keys: readonly string[],
  ) {
    super('A lock has to be held before the transaction begins');
  }
}

/**
 * The advisory locks of a unit above READ COMMITTED. Its snapshot is that of its first statement: a lock that it waited
 * for later would be held, and what the one before wrote would still not be seen. So these locks are taken before
 * BEGIN, by the session, and the transaction takes them over. They exclude the same locks of ordinary transactions.
 */
export class EarlyLocks {
  private readonly keysBySql = new Map<string, Set<string>>();

  /** How many locks there are. */
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

  /** Leaves a transaction open: behind a pooler a session stays with one client only as long. */
  async take(client: PoolClient): Promise<void> {
    if (this.size > 0) await client.query(`BEGIN; ${this.lockingBy('pg_advisory_lock')}`);
  }

  /** SQL of the transaction that holds the locks until it ends; `begin` begins it, with what takes no snapshot. */
  beginSql(begin: readonly string[]): string {
    const own = [this.lockingBy('pg_advisory_xact_lock'), RELEASE_ALL];
    return (this.size === 0 ? begin : ['COMMIT', ...begin, ...own]).join('; ');
  }

  /** Behind a pooler the session is another client's as soon as its transaction is over: both travel in one message. */
  async rollBack(client: PoolClient): Promise<void> {
    await client.query(`ROLLBACK; ${RELEASE_ALL}`).catch(() => {
      client.connection.stream.destroy(); // it must not live on with the locks
    });
  }

  /** All in one order, so that of two who need the same ones none waits in a circle. */
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

/** Locks of the session alone; those of the transaction stay. */
const RELEASE_ALL = 'select pg_advisory_unlock_all()';
