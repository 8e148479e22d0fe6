import { Client } from 'pg';

/** Where a database of the cluster at `clusterUrl` is. */
export function databaseUrlOf(clusterUrl: string, database: string): string {
  const url = new URL(clusterUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Runs one statement on a connection of its own. */
export async function runQuery<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = await connect(url);
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** The process that all others of a PostgreSQL are children of, and its version. */
export async function postgresFacts(url: string): Promise<{ postmasterPid: number; version: string }> {
  const [facts] = await runQuery<{ pid: number; version: string }>(
    url,
    `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer as pid, current_setting('server_version') as version`,
  );
  return { postmasterPid: facts?.pid ?? 0, version: facts?.version ?? '' };
}
