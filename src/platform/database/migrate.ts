import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { StartError } from '../errors/start-error';
import { dataSourceOptions } from './data-source-options';

/** Any number works, as long as no other lock of this database uses it. */
const MIGRATION_LOCK = 4_713_590;

/** A migration may rewrite a large table: it gets an hour, not the limit of a request. */
const MIGRATION_TIMEOUT_SECONDS = 3600;

const OLDEST_POSTGRESQL = 140_000;

/**
 * Brings the schema of the database at `url` up to this version of the server. Replicas that start together wait
 * for each other on an advisory lock.
 * @throws StartError when PostgreSQL is older than 14, the database is not one for Unicode, or belongs to a newer version of the server.
 */
export async function migrate(url: string): Promise<void> {
  const lock = new Client({ connectionString: url });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await assertSuitable(lock);
    await runMigrations(url);
  } finally {
    await lock.end(); // ends the session and with it the lock
  }
}

/** In a database that does not know the letters of all languages, searches that ignore case would miss names without a word. */
async function assertSuitable(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string; ignores_case: boolean }>(
    `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding,
      'Ñ' ilike 'ñ' as ignores_case`,
  );
  const [found] = rows;
  if (Number(found?.version) < OLDEST_POSTGRESQL) throw new StartError('PostgreSQL 14 or newer is needed.');
  if (found?.encoding === 'UTF8' && found.ignores_case) return;
  throw new StartError(
    'The database must know the letters of all languages, or searches would miss names such as "Muñoz". ' +
      `Create it by: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'`,
  );
}

async function runMigrations(url: string): Promise<void> {
  const dataSource = await new DataSource(
    dataSourceOptions(url, { poolSize: 2, statementTimeoutSeconds: MIGRATION_TIMEOUT_SECONDS }),
  ).initialize();
  try {
    await dataSource.runMigrations();
    await refuseUnknownMigrations(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** An older server on a newer schema would write rows that the newer one does not understand. */
async function refuseUnknownMigrations(dataSource: DataSource): Promise<void> {
  const known = new Set(dataSource.migrations.map((migration) => migration.name ?? migration.constructor.name));
  const applied = await dataSource.query<{ name: string }[]>('select name from schema_migration order by id');
  const unknown = applied.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (unknown.length > 0)
    throw new StartError(`The database was migrated by a newer server (${unknown.join(', ')}). Start that version.`);
}
