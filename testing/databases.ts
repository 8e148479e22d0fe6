import { Client } from 'pg';

/** Drops a database, and ends all connections to it. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await runStatement(adminUrl, `drop database if exists ${name} with (force)`);
}

/**
 * Makes a database as a copy of another one, which has no connections. By default PostgreSQL 15 and newer write each
 * page of the copy to the WAL, which takes twice the CPU time of a copy of the files. A copy of files waits for
 * checkpoints, which is slow only where these wait for the disk.
 */
export async function copyDatabase(adminUrl: string, from: string, to: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ strategy: string }>(
      `select case when current_setting('server_version_num')::integer >= 150000 and current_setting('fsync') = 'off'
         then 'strategy file_copy' else '' end as strategy`,
    );
    await client.query(`create database ${to} template ${from} ${rows[0]?.strategy ?? ''}`);
  } finally {
    await client.end();
  }
}

/** The URL of another database on the same PostgreSQL server. */
export function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = name;
  return url.href;
}

/** Runs one statement in its own session. */
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
 * The URL by which a server under test connects to a database. If TEST_POOLER names a pooler in front of the PostgreSQL
 * of TEST_DATABASE_URL, the URL leads through this pooler.
 */
export function throughPooler(databaseUrl: string): string {
  const { TEST_DATABASE_URL, TEST_POOLER } = process.env;
  if (TEST_POOLER === undefined || !URL.canParse(databaseUrl)) return databaseUrl; // it names several hosts, so it is no URL
  const url = new URL(databaseUrl);
  if (url.host === new URL(TEST_DATABASE_URL ?? databaseUrl).host) url.host = TEST_POOLER;
  return url.href;
}
