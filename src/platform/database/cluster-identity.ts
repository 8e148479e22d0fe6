/**
 * SQL expressions that identify the transaction history of a database. Ids of transactions and values of sequences are
 * unique within one history only: a copy, or a database restored to an earlier point in time, issues them again.
 */

/**
 * The system identifier, as decimal digits. It changes with every `initdb`: after dump and restore, a logical move, and
 * `pg_upgrade`.
 */
export const SYSTEM_IDENTIFIER = `(select system_identifier::text from pg_control_system())`;

/**
 * The timeline, as eight hexadecimal digits. It changes with every promotion: failover and point-in-time recovery. It
 * is read from the WAL position, since `pg_control_checkpoint()` shows a new timeline only after the next checkpoint.
 * The expression fails on a standby (SQLSTATE 55000), which accepts no writes anyway.
 */
export const TIMELINE = `substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)`;
