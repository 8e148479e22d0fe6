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

/**
 * The address at which a server under test finds a database: TEST_POOLER is a pooler of the cluster of
 * TEST_DATABASE_URL.
 */
export function throughPooler(databaseUrl: string): string {
  const { TEST_DATABASE_URL, TEST_POOLER } = process.env;
  if (TEST_POOLER === undefined || !URL.canParse(databaseUrl)) return databaseUrl; // no URL: it names several hosts
  const url = new URL(databaseUrl);
  if (url.host === new URL(TEST_DATABASE_URL ?? databaseUrl).host) url.host = TEST_POOLER;
  return url.href;
}
