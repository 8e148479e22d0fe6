import { Logger } from '@nestjs/common';
import { type Client } from 'pg';
import { DatabaseClient } from '../platform/database/database-client';
import { TAKE_SLOT } from './delivery-statements';

/** TCP keepalive of the connection: if a machine vanishes, PostgreSQL releases its lock after about 10 + 3 × 5 s. */
const KEEPALIVE = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';

/** The limit of heartbeat queries: shorter than a failover from a frozen primary, longer than pauses of a busy one. */
const SILENT_MILLISECONDS = 10_000;

/**
 * The heartbeat lock of this process: an advisory lock on its slot, the number that identifies it as a worker. A
 * separate connection holds the lock. When the process ends, PostgreSQL releases the lock within milliseconds. A slot
 * number is never used again.
 */
export class WorkerIdentity {
  private readonly logger = new Logger(WorkerIdentity.name);
  private held: { readonly client: Client; readonly slot: number } | undefined;
  private connecting: Promise<number> | undefined;

  constructor(private readonly databaseUrl: string) {}

  /** Returns the slot of this worker, or a new one if the connection was lost. Its loss calls `onLost`. */
  async hold(onLost: () => void): Promise<number> {
    if (this.held !== undefined) return this.held.slot;
    // Concurrent callers share one connection, because each connection counts as a separate worker.
    this.connecting ??= this.connect(onLost).finally(() => {
      this.connecting = undefined;
    });
    return this.connecting;
  }

  get slot(): number | undefined {
    return this.held?.slot;
  }

  /**
   * Ends the connection if PostgreSQL does not answer on it. Called about once a second. A frozen primary keeps the
   * connection open, but the lock does not exist on the standby that replaces it. So other workers would take over the
   * batches that this worker is still sending.
   */
  check(): void {
    const { client } = this.held ?? {};
    if (client?.readyForQuery === true) client.query('select').catch(() => client.connection.stream.destroy());
  }

  async release(): Promise<void> {
    const { held } = this;
    this.held = undefined;
    await held?.client.end();
  }

  private async connect(onLost: () => void): Promise<number> {
    const client = new DatabaseClient({
      connectionString: this.databaseUrl,
      application_name: 'svc-health-server delivery',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: 5_000,
      query_timeout: SILENT_MILLISECONDS,
      options: KEEPALIVE,
    });
    const lose = (): void => {
      if (this.held?.client !== client) return;
      this.held = undefined;
      this.logger.warn('The connection with the heartbeat lock of this worker was lost');
      onLost();
    };
    client.on('error', lose);
    client.on('end', lose);
    try {
      await client.connect();
      const { rows } = await client.query<{ slot: number }>(TAKE_SLOT);
      const [row] = rows;
      if (row === undefined) throw new Error('No slot was given');
      this.held = { client, slot: row.slot };
      return row.slot;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }
}
