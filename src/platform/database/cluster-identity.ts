/**
 * SQL expressions that name the history which a database belongs to. Transaction ids and sequence values mean something
 * only within one history: a copy in another cluster, or a restore to an earlier point, gives them out again.
 */

/**
 * Changes with every `initdb`, so after dump and restore, a logical move and `pg_upgrade`. A text of decimal digits.
 */
export const SYSTEM_IDENTIFIER = `(select system_identifier::text from pg_control_system())`;

/**
 * Changes with every promotion: failover and point-in-time recovery. A text of eight hexadecimal digits.
 * It is read from the WAL position, since `pg_control_checkpoint()` shows the new timeline only after the next
 * checkpoint. Fails on a standby (SQLSTATE 55000), where nothing is written anyway.
 */
export const TIMELINE = `substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)`;
