import { type Pool } from 'pg';
import { type DataSource } from 'typeorm';
import { type PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { Slots } from '../admission/slots';

/** As long as the pool waits for a connection. */
const LONGEST_WAIT_MILLISECONDS = 5_000;

/**
 * What may hold a connection for long, with its share of the pool in sixteenths: of all callers, and of each. Both kinds leave
 * connections for the rest: single reads and writes, Sessions, deliveries.
 */
const SHARES = { search: [5, 4], transaction: [9, 8] } as const;

export const poolOf = (dataSource: DataSource): Pool => (dataSource.driver as PostgresDriver).master as Pool;

/** Connections are few and statements may be dear: nobody's searches or transactions shall take them all. */
export function connectionSlots(kind: keyof typeof SHARES, dataSource: DataSource): Slots {
  const [permits, perCaller] = SHARES[kind].map((part) =>
    Math.max(1, Math.floor((poolOf(dataSource).options.max * part) / 16)),
  );
  return new Slots({
    permits: permits ?? 1,
    perCaller: perCaller ?? 1,
    longestWaitMilliseconds: LONGEST_WAIT_MILLISECONDS,
    busyMessage: `Too many dear ${kind === 'search' ? 'searches' : 'writes'} at once. Try again in a few seconds.`,
    retryAfterSeconds: 5,
  });
}
