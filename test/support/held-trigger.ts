import { Client } from 'pg';
import { eventually } from '../../testing/eventually';

const LOCK = 424_242;

/** Blocks transactions at a statement or at their COMMIT while it is held. */
export class HeldTrigger {
  private constructor(
    private readonly client: Client,
    private readonly table: string,
  ) {}

  /**
   * @param when `at once`, or `at the commit` of the transaction
   */
  static async on(
    databaseUrl: string,
    { table, event, when }: { table: string; event: string; when: 'at once' | 'at the commit' },
  ): Promise<HeldTrigger> {
    const client = new Client({ connectionString: databaseUrl });
    client.on('error', () => undefined); // specs crash the database
    await client.connect();
    await client.query(`create or replace function hold() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(${LOCK}); return new; end $$`);
    await client.query(
      when === 'at once'
        ? `create trigger hold before ${event} on ${table} for each row execute function hold()`
        : `create constraint trigger hold after ${event} on ${table} deferrable initially deferred
            for each row execute function hold()`,
    );
    await client.query(`select pg_advisory_lock(${LOCK})`);
    return new HeldTrigger(client, table);
  }

  /** Waits until the trigger blocks a transaction. */
  async reached(): Promise<void> {
    await eventually('a transaction is held', async () => {
      const { rowCount } = await this.client.query(
        `select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted
          and database = (select oid from pg_database where datname = current_database())`,
      );
      return rowCount === 1;
    });
  }

  /** Releases the trigger: waiting statements continue, unless their client is gone. */
  async release(databaseUrl: string): Promise<void> {
    await this.client.end().catch(() => undefined);
    await eventually('the trigger is gone', async () => {
      const client = new Client({ connectionString: databaseUrl });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query(`drop trigger if exists hold on ${this.table}`);
        return true;
      } catch {
        return false; // the database is starting again
      } finally {
        await client.end().catch(() => undefined);
      }
    });
  }
}
