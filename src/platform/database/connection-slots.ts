import { type Pool } from 'pg';
import { type DataSource } from 'typeorm';
import { type PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { Slots, type SlotsOptions } from '../admission/slots';
import { BACKGROUND, type Ticket } from '../admission/ticket';

/** How long to wait for a slot. It equals the longest wait of the pool for a connection. */
const LONGEST_WAIT_MILLISECONDS = 5_000;

export const poolOf = (dataSource: DataSource): Pool => (dataSource.driver as PostgresDriver).master as Pool;

/** How many connections searches and transactions may use, in total and per caller. */
function sharesOf(size: number): Record<'search' | 'transaction', Pick<SlotsOptions, 'permits' | 'perCaller'>> {
  const searches = Math.max(1, Math.floor((size * 3) / 8));
  // The remaining connections are for short work: single reads and writes, Sessions, deliveries.
  const transactions = Math.max(1, size - searches - Math.max(1, Math.floor(size / 8)));
  return {
    search: { permits: searches, perCaller: Math.max(1, Math.floor((searches * 2) / 3)) },
    transaction: { permits: transactions, perCaller: Math.max(1, Math.floor((transactions * 7) / 8)) },
  };
}

/**
 * The slots for the connections of searches or of transactions. There are few connections and statements may be slow,
 * so the searches or transactions of one caller must not use all connections.
 */
export class ConnectionSlots extends Slots {
  constructor(kind: 'search' | 'transaction', dataSource: DataSource) {
    super({
      ...sharesOf(poolOf(dataSource).options.max)[kind],
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
