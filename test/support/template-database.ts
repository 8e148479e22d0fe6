import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { migrate } from '../../src/platform/database/migrate';
import { preloadDefinitions } from './preload-definitions';

/**
 * Makes a migrated database with HL7's definitions for `cloneDatabase` to copy, and returns its name. The name is new at every run, so that two
 * runs on one TEST_DATABASE_URL do not disturb each other.
 */
export async function makeTemplateDatabase(adminUrl: string): Promise<string> {
  const name = `svc_template_${randomBytes(6).toString('hex')}`;
  await runStatement(adminUrl, `create database ${name}`);
  try {
    await migrate(databaseUrl(adminUrl, name));
    await preloadDefinitions(databaseUrl(adminUrl, name));
  } catch (error) {
    await dropDatabase(adminUrl, name);
    throw error;
  }
  return name;
}

/** Drops a database, whoever is still connected to it. */
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
