import { randomBytes } from 'node:crypto';
import { type Client } from 'pg';
import { StartError } from '../errors/start-error';
import { onOwnConnection, reasonOf } from './database-client';

/**
 * How often the check is repeated. If another client takes the backend in between, the check misses the pooler in that
 * round, but not in all rounds.
 */
const ROUNDS = 5;

/** Whether the process id in the protocol is that of a real PostgreSQL process. A pooler invents the id. */
export const isBackendOf = ({ processID }: Client, processId: number | undefined): boolean => processID === processId;

/**
 * `transaction`: a pooler may run each transaction of a connection in another backend. `session`: all of them run in
 * the same backend. `none`: there is no pooler.
 */
export type Pooling = 'none' | 'session' | 'transaction';

/**
 * Detects a pooler between this process and PostgreSQL.
 * @throws StartError if clients of the pooler share backends together with their named statements
 */
export async function poolingOf(url: string): Promise<Pooling> {
  try {
    return await onOwnConnection(url, 'svc-health-server', (client) => poolingBefore(client, url));
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`The database of DATABASE_URL cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

async function poolingBefore(client: Client, url: string): Promise<Pooling> {
  // A pooler that supports named statements renames them, so PostgreSQL does not list this name.
  const name = `svc-probe-${randomBytes(8).toString('hex')}`;
  const text = `select pg_backend_pid() as pid, exists (select from pg_prepared_statements where name = $1) as "isNamed"`;
  const { rows } = await client.query<{ pid: number; isNamed: boolean }>({ name, text, values: [name] });
  const [found] = rows;
  if (isBackendOf(client, found?.pid)) return 'none';
  if (found?.isNamed !== true) return 'transaction';
  if (await onOwnConnection(url, 'svc-health-server', (other) => isShared(client, other))) {
    throw new StartError(
      'The pooler of DATABASE_URL keeps no named statements in transaction mode: use PgBouncer 1.21 or newer with max_prepared_statements above 0, or session mode.',
    );
  }
  return 'session';
}

/** Whether another client gets the same backend, which does not happen in session mode. */
async function isShared(client: Client, other: Client): Promise<boolean> {
  const backendOf = async (one: Client): Promise<number | undefined> =>
    (await one.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  for (let round = 0; round < ROUNDS; round++) {
    const before = await backendOf(client);
    await other.query('begin');
    const taken = await backendOf(other);
    const after = await backendOf(client);
    await other.query('rollback');
    if (taken === before || after !== before) return true;
  }
  return false;
}
