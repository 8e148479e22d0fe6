import { randomBytes } from 'node:crypto';
import { type Client } from 'pg';
import { StartError } from '../errors/start-error';
import { DatabaseClient, reasonOf } from './database-client';

const LONGEST_MILLISECONDS = 5_000;

/** Another client that takes the backend in between hides the pooler in one round, but not in all. */
const ROUNDS = 5;

/** Whether the protocol names a real PostgreSQL process; a pooler invents the id. */
export const isBackendOf = (client: Client, processId: number | undefined): boolean =>
  (client as Client & { readonly processID: number }).processID === processId;

/**
 * `transaction`: a pooler may run each transaction of a connection in another backend; `session`: all in the same one.
 */
export type Pooling = 'none' | 'session' | 'transaction';

/**
 * Detects a pooler between this process and PostgreSQL.
 * @throws StartError if its clients share backends together with their named statements
 */
export async function poolingOf(url: string): Promise<Pooling> {
  const clients: Client[] = [];
  const connected = async (): Promise<Client> => {
    const client = new DatabaseClient({
      connectionString: url,
      application_name: 'svc-health-server',
      connectionTimeoutMillis: LONGEST_MILLISECONDS,
      query_timeout: LONGEST_MILLISECONDS,
    });
    client.on('error', () => undefined); // makes the query fail too
    clients.push(client);
    await client.connect();
    return client;
  };
  try {
    const client = await connected();
    // A pooler that supports named statements gives them other names.
    const name = `svc-probe-${randomBytes(8).toString('hex')}`;
    const text = `select pg_backend_pid() as pid, exists (select from pg_prepared_statements where name = $1) as "isNamed"`;
    const { rows } = await client.query<{ pid: number; isNamed: boolean }>({ name, text, values: [name] });
    const [found] = rows;
    if (isBackendOf(client, found?.pid)) return 'none';
    if (found?.isNamed !== true) return 'transaction';
    if (await isShared(client, await connected())) {
      throw new StartError(
        'The pooler of DATABASE_URL keeps no named statements in transaction mode: use PgBouncer 1.21 or newer with max_prepared_statements above 0, or session mode.',
      );
    }
    return 'session';
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`The database of DATABASE_URL cannot be used: ${reasonOf(error)}`, { cause: error });
  } finally {
    for (const { connection } of clients) connection.stream.destroy();
  }
}

/** In session mode a backend belongs to one client, and no other client gets it. */
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
