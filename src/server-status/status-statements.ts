import { type Statement } from '../platform/database/statement';

/**
 * How many bytes the slowest standby or slot is behind. It is null on a standby, and for a role without `pg_monitor`,
 * which cannot see these columns of other roles' sessions.
 */
const behind = (view: string, position: string): string =>
  `case when pg_is_in_recovery() then null
    else (select max(pg_wal_lsn_diff(pg_current_wal_lsn(), ${position}))::float8 from ${view}) end`;

/** Reads the state of the database server, from counters that PostgreSQL keeps in memory. */
export const DATABASE: Statement = {
  name: 'status-database',
  text: `select current_setting('server_version') as version, current_setting('max_connections')::integer as "maxConnections",
      (select numbackends from pg_stat_database where datname = current_database()) as connections,
      (select count(*) from pg_stat_replication) as standbys,
      ${behind('pg_stat_replication', 'replay_lsn')} as "standbyLagBytes",
      ${behind('pg_replication_slots', 'restart_lsn')} as "slotLagBytes"`,
};

/** Reads the size of the database. PostgreSQL adds up the sizes of all files for it. */
export const DATABASE_SIZE: Statement = {
  name: 'status-database-size',
  text: 'select pg_database_size(current_database())::float8 as bytes',
};

/**
 * Reads the number of current resources by type, as estimated by ANALYZE. It returns at most as many types as the
 * statistics of PostgreSQL contain.
 */
export const RESOURCE_COUNTS: Statement = {
  name: 'status-resource-counts',
  text: `select v.type, round(v.share * t.n_live_tup)::float8 as count
    from pg_stats s cross join unnest(s.most_common_vals::text::text[], s.most_common_freqs) v (type, share)
      cross join pg_stat_user_tables t
    where s.schemaname = current_schema() and s.tablename = 'resource' and s.attname = 'type'
      and t.relid = 'resource'::regclass
    order by count desc, v.type`,
};
