import { setTimeout as delay } from 'node:timers/promises';

interface Database {
  query<Row extends object>(text: string): Promise<Row[]>;
}

const SWEEP_MILLISECONDS = 100;

/** The SQL that finds prepared transactions to commit now. The end of a name is the delay in milliseconds. */
const DUE = `select gid from pg_prepared_xacts where database = current_database()
  and prepared + split_part(gid, '-', 3)::integer * interval '1 ms' <= clock_timestamp()`;

/**
 * Transactions whose COMMIT became PREPARE TRANSACTION. They survive the end of servers and crashes of the database,
 * and all of them are committed in the end.
 */
export class PreparedTransactions {
  private readonly waiting = new Map<string, () => void>();
  private count = 0;

  /** Returns a name for a transaction that is to be committed this long after it was prepared. */
  nameFor(milliseconds: number): string {
    return `chaos-${++this.count}-${milliseconds}`;
  }

  /** Resolves when COMMIT PREPARED was answered; never after a crash, which also ends the waiting connection. */
  whenCommitted(name: string): Promise<void> {
    return new Promise((resolve) => this.waiting.set(name, resolve));
  }

  /** Commits due transactions until the signal. */
  async commitUntil(signal: AbortSignal, database: Database): Promise<void> {
    while (!signal.aborted) {
      await delay(SWEEP_MILLISECONDS);
      const due = await database.query<{ gid: string }>(DUE).catch(() => []);
      await Promise.all(due.map(({ gid }) => this.commit(gid, database)));
    }
  }

  private async commit(name: string, database: Database): Promise<void> {
    try {
      await database.query(`commit prepared '${name}'`);
    } catch {
      return; // after a crash, the next sweep finds the transaction again, or it was committed
    }
    this.waiting.get(name)?.();
    this.waiting.delete(name);
  }
}
