import { type Client } from 'pg';
import { DatabaseClient } from '../../src/platform/database/database-client';

/** The URL of a database of the cluster at `clusterUrl`. */
export function databaseUrlOf(clusterUrl: string, database: string): string {
  const url = new URL(clusterUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export async function connect(url: string): Promise<Client> {
  const client = new DatabaseClient({ connectionString: url });
  await client.connect();
  return client;
}

/** Runs one statement on a separate connection. */
export async function runQuery<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = await connect(url);
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** The process id of the postmaster, and the version. */
export async function postgresFacts(url: string): Promise<{ postmasterPid: number; version: string }> {
  const [facts] = await runQuery<{ pid: number; version: string }>(
    url,
    `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer as pid, current_setting('server_version') as version`,
  );
  return { postmasterPid: facts?.pid ?? 0, version: facts?.version ?? '' };
}
