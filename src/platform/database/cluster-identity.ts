/**
 * SQL expressions that identify the transaction history of a database. Transaction ids and sequence values are valid
 * only within one history: a copy in another cluster, or a restore to an earlier point, issues them again.
 */

/** Changes with every `initdb`: after dump and restore, a logical move, and `pg_upgrade`. Decimal digits. */
export const SYSTEM_IDENTIFIER = `(select system_identifier::text from pg_control_system())`;

/**
 * Changes with every promotion: failover and point-in-time recovery. Eight hexadecimal digits. Read from the WAL
 * position, since `pg_control_checkpoint()` shows the new timeline only after the next checkpoint. Fails on a standby
 * (SQLSTATE 55000), which accepts no writes anyway.
 */
export const TIMELINE = `substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)`;
