import { Client } from 'pg';

/** Drops a database, and ends connections to it. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await runStatement(adminUrl, `drop database if exists ${name} with (force)`);
}

/** Returns the URL of another database of the same server. */
export function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = name;
  return url.href;
}

/** Runs one statement in a session of its own. */
export async function runStatement(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
