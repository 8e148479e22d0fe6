import { type ClientBase } from 'pg';
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
 * for later would be held, and what the one before wrote would still not be seen. So these locks are taken before BEGIN, by
 * the connection, and given back after the end. They exclude the same locks of ordinary transactions.
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

  /** All in one order, so that of two who need the same ones none waits in a circle. */
  async take(client: ClientBase): Promise<void> {
    for (const [keySql, keys] of [...this.keysBySql].sort(([a], [b]) => (a < b ? -1 : 1))) {
      await client.query(`select pg_advisory_lock(${keySql}) from (select unnest($1::text[]) k order by 1) held`, [
        [...keys],
      ]);
    }
  }

  /** A connection that cannot give its locks back must not live on with them. */
  async giveBack(client: ClientBase): Promise<void> {
    if (this.size === 0) return;
    try {
      await client.query('select pg_advisory_unlock_all()');
    } catch {
      await client.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    }
  }
}
