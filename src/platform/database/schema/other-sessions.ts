import { type Client } from 'pg';
import { onOwnConnection } from '../database-client';

/** The `application_name` of sessions that migrate, which differs from that of sessions that serve requests. */
export const MIGRATION_SESSION = 'svc-health-server migration';

const LOOK_MILLISECONDS = 5_000;
const REPEAT_MILLISECONDS = 60_000;

interface Session {
  /** 0 for a prepared transaction. */
  readonly pid: number;
  readonly name: string | null;
  /** Null for a session of another role: PostgreSQL shows its times only to roles with `pg_read_all_stats`. */
  readonly since: string | null;
}

const SINCE = `to_char(coalesce(xact_start, backend_start) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

const WAITED_FOR = `select b.pid, nullif(application_name, '') as name, ${SINCE} as since
  from unnest(pg_blocking_pids($1)) b (pid) left join pg_stat_activity a on a.pid = b.pid order by since limit 10`;

/** Advisory locks with one key of 8 bytes have the `objsubid` 1 and the lower half of the key as `objid`. */
const LOCK_HOLDER = `select l.pid, nullif(application_name, '') as name, ${SINCE} as since
  from pg_locks l left join pg_stat_activity a on a.pid = l.pid
  where locktype = 'advisory' and classid = 0 and objid = $1 and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())`;

/** Sessions of servers of all releases that serve requests or deliver. Tools and migrations have other names. */
const SERVERS = `select count(*)::integer as count, string_agg(distinct coalesce(host(client_addr), 'a local socket'), ', ') as addresses
  from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and application_name ~ '^svc-health-server( delivery| [0-9a-f]{8}-\\d+)?$'`;

/** A session without its statement, which may contain patient data. */
function described({ pid, name, since }: Session): string {
  if (pid === 0) return 'a prepared transaction (pg_prepared_xacts)';
  return `process ${pid} (${name ?? 'no name'}${since === null ? '' : `, since ${since}`})`;
}

/** The session that holds an advisory lock, such as "process 7 (name, since 2026-01-31T10:00:00Z)". */
export async function lockHolder(client: Client, key: number): Promise<string> {
  const { rows } = await client.query<Session>(LOCK_HOLDER, [key]);
  return rows.map(described).join(', ');
}

/** Returns from where servers are connected; undefined if none is. */
export async function connectedServers(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ count: number; addresses: string | null }>(SERVERS);
  const [{ count, addresses } = { count: 0, addresses: null }] = rows;
  return count === 0 ? undefined : `${count} connections from ${addresses}`;
}

/**
 * Calls `report` if the session `pid` has to wait for other sessions: after about 5 s, and then once a minute. It
 * queries on a separate connection, since that of the waiting session is blocked.
 * @returns a function that ends the queries
 */
export function watchWaits(url: string, pid: number, report: (sessions: string) => void): () => void {
  let reportedAt = -Infinity;
  let isOver = false;
  const look = async (): Promise<void> => {
    // Ignored, for example if PostgreSQL has no free connection: the migration does not depend on this.
    const sessions = await sessionsBefore(url, pid).catch(() => '');
    if (isOver || sessions === '' || performance.now() - reportedAt < REPEAT_MILLISECONDS) return;
    reportedAt = performance.now();
    report(sessions);
  };
  const timer = setInterval(() => void look(), LOOK_MILLISECONDS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

const sessionsBefore = (url: string, pid: number): Promise<string> =>
  onOwnConnection(url, MIGRATION_SESSION, async (client) => {
    const { rows } = await client.query<Session>(WAITED_FOR, [pid]);
    return rows.map(described).join(', ');
  });
