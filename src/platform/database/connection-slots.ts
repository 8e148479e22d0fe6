import { type Pool } from 'pg';
import { type DataSource } from 'typeorm';
import { type PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { permitsOf, Slots } from '../admission/slots';
import { BACKGROUND, type Ticket } from '../admission/ticket';

/** How long to wait for a slot. It equals the longest wait of the pool for a connection. */
const LONGEST_WAIT_MILLISECONDS = 5_000;

export const poolOf = (dataSource: DataSource): Pool => (dataSource.driver as PostgresDriver).master as Pool;

/**
 * The shares of all connections that all callers together, and one caller, may use. The remaining connections are for
 * short work: single reads and writes, Sessions, deliveries.
 */
const SHARES = { search: [3 / 8, 1 / 4], transaction: [1 / 2, 7 / 16] } as const;

/**
 * The slots for the connections of searches or of transactions. There are few connections and statements may be slow,
 * so the searches or transactions of one caller must not use all connections.
 */
export class ConnectionSlots extends Slots {
  constructor(kind: 'search' | 'transaction', dataSource: DataSource) {
    super({
      ...permitsOf(poolOf(dataSource).options.max, ...SHARES[kind]),
      longestWaitMilliseconds: LONGEST_WAIT_MILLISECONDS,
      busyMessage: `Too many costly ${kind === 'search' ? 'searches' : 'writes'} at once. Try again in a few seconds.`,
      retryAfterSeconds: 5,
    });
  }

  /** Runs `work` in a slot. Background work needs none. */
  override run<T>(ticket: Ticket, work: () => Promise<T>): Promise<T> {
    return ticket === BACKGROUND ? work() : super.run(ticket, work);
  }
}
