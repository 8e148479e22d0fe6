import { type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { type Client, DatabaseError } from 'pg';
import { onOwnConnection } from './database-client';

/** The error message of statements whose connection was destroyed. */
const SILENCE = 'Connection terminated: PostgreSQL went silent';

const CHECK_MILLISECONDS = 1_000;

/** A connection that waits for an answer is checked when no byte has arrived for this time. */
const SILENT_MILLISECONDS = 5_000;

/**
 * Finds those backends that are working on a statement. A backend that waits for its client has already sent its
 * answer; if the client still waits too, bytes were lost on the way.
 */
const WORKING = `select pid::text as "processId", application_name as name from pg_stat_activity
  where (pid::text = any($1) or application_name = any($1)) and state = 'active' and wait_event_type is distinct from 'Client'`;

/** The state of a connection at the latest check. */
interface Seen {
  /**
   * The process id of the backend. A pooler invents process ids, so behind a pooler this is the `application_name`,
   * which only this connection has.
   */
  readonly backend: string;
  readonly bytes: number;
  readonly receivedAt: number;
  /** When the connection last had no pending statement, or last received bytes. */
  readonly quietSince: number;
}

type Watched = readonly [client: Client, seen: Seen];

/**
 * Destroys connections to PostgreSQL that became silent. A firewall or a dead host can drop packets forever, and TCP
 * keepalive does not notice that if a proxy in between still answers. A statement may legitimately take minutes, so a
 * time limit cannot decide. Instead, `pg_stat_activity` is queried on a new connection: it shows whether the backend is
 * still working. The statement on a destroyed connection fails as on any broken connection.
 */
export class SilentConnections {
  private readonly logger = new Logger(SilentConnections.name);
  private readonly clients = new Map<Client, Seen>();
  private timer: NodeJS.Timeout | undefined;
  private isLookingUp = false;

  /** @param databaseUrl the URL of PostgreSQL itself, without a pooler */
  constructor(private readonly databaseUrl: string) {}

  /**
   * Watches a connection until it ends.
   * @param name the `application_name` of the connection, if there is a pooler
   */
  watch(client: Client, name?: string): void {
    this.clients.set(client, seenNow(client, name ?? String(client.processID)));
    client.once('end', () => {
      this.clients.delete(client);
      if (this.clients.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    });
    this.timer ??= setInterval(() => void this.check(), CHECK_MILLISECONDS).unref();
  }

  private async check(): Promise<void> {
    const silent = this.silentClients();
    if (silent.length === 0 || this.isLookingUp) return;
    this.isLookingUp = true;
    try {
      const working = await this.workingOf(silent.map(([, { backend }]) => backend));
      this.destroy(
        silent.filter(
          ([client, { backend, bytes }]) => !working.has(backend) && !client.readyForQuery && bytesOf(client) === bytes,
        ),
      );
    } catch (error) {
      // If PostgreSQL refused the check, for example because it has no free connection, the state of the silent
      // connections is unknown, and none is destroyed.
      if (!(error instanceof DatabaseError)) this.destroy(silent.filter(([{ readyForQuery }]) => !readyForQuery));
    } finally {
      this.isLookingUp = false;
    }
  }

  private silentClients(): Watched[] {
    const now = performance.now();
    const silent: Watched[] = [];
    for (const [client, seen] of this.clients) {
      if (bytesOf(client) !== seen.bytes) this.clients.set(client, seenNow(client, seen.backend));
      else if (client.readyForQuery) this.clients.set(client, { ...seen, quietSince: now });
      else if (now - seen.quietSince >= SILENT_MILLISECONDS) silent.push([client, seen]);
    }
    return silent;
  }

  /**
   * Returns those of `backends` that work on a statement.
   * @throws DatabaseError if PostgreSQL refuses the connection or the query, another Error if it does not answer
   */
  private workingOf(backends: readonly string[]): Promise<ReadonlySet<string>> {
    return onOwnConnection(this.databaseUrl, 'svc-health-server lookup', async (client) => {
      const { rows } = await client.query<{ processId: string; name: string }>(WORKING, [backends]);
      return new Set(rows.flatMap(({ processId, name }) => [processId, name]));
    });
  }

  /**
   * Destroys lost connections, and also idle connections that have received nothing since the lost ones became silent.
   * Each of these would probably make its next user wait as long, and a new connection is cheap. The times are those of
   * the checks, so each may be wrong by one interval.
   */
  private destroy(lost: readonly Watched[]): void {
    if (lost.length === 0) return;
    const earliest = Math.min(...lost.map(([, { quietSince }]) => quietSince));
    const since = earliest + 2 * CHECK_MILLISECONDS;
    const idle = [...this.clients].filter(([client, { receivedAt }]) => client.readyForQuery && receivedAt <= since);
    this.logger.warn(
      `${lost.length} connections to PostgreSQL have no answer and no backend that works at one: closing them and ${idle.length} idle ones`,
    );
    for (const [client] of [...lost, ...idle]) client.connection.stream.destroy(new Error(SILENCE));
  }
}

const bytesOf = ({ connection }: Client): number => (connection.stream as Socket).bytesRead;

function seenNow(client: Client, backend: string): Seen {
  const now = performance.now();
  return { backend, bytes: bytesOf(client), receivedAt: now, quietSince: now };
}
