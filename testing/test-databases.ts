import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { digestOf } from '../src/platform/database/migration';
import { DirectoryInUseError } from '../src/platform/database/embedded/data-directory';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres';
import { CORE } from '../src/platform/database/schema/all-migrations';
import { StartError } from '../src/platform/errors/start-error';
import { softwareVersion } from '../src/platform/software-version';
import { encryptionKey, ROOT, startApp } from './app-on-database';
import { copyDatabase, databaseUrl, dropDatabase } from './databases';
import { makeTemplateDatabase } from './template-database';

export interface ClonedDatabase {
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * The state of a template. `new`: it is migrated, and no server has started on it. `started`: a server has started on
 * it, with the settings of `startTestApp`.
 */
type State = 'new' | 'started';

/**
 * Starts one PostgreSQL for all processes of a run, which read its URL from TEST_DATABASE_URL. Call it in the global
 * setup of a test runner. If TEST_DATABASE_URL is already set, that server is used.
 * @returns a function that stops it; call it after the last test
 * @example
 * const end = await startTestDatabase(); // in the global setup of a test runner
 * await end(); // in its global teardown
 */
export function startTestDatabase(): Promise<() => Promise<void>> {
  return startTestDatabaseIn(clustersOfProject());
}

/** Does what {@link startTestDatabase} does, with the embedded cluster in another folder. */
export async function startTestDatabaseIn(folder: string): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined) return () => Promise.resolve();
  const server = await startKeptPostgres(folder);
  process.env.TEST_DATABASE_URL = server.url;
  return async () => {
    delete process.env.TEST_DATABASE_URL;
    await server.stop();
  };
}

/** Makes a new database as a copy of a template. The first caller makes the template. */
export async function cloneDatabase(state: State = 'new'): Promise<ClonedDatabase> {
  const server = await serverOfProcess.lease();
  try {
    const name = newName();
    await copyTemplate(server.url, state, name);
    const drop = async (): Promise<void> => {
      await dropDatabase(server.url, name);
      await server.release();
    };
    return { name, url: databaseUrl(server.url, name), drop };
  } catch (error) {
    await server.release();
    throw error;
  }
}

const newName = (): string => `svc_test_${randomBytes(6).toString('hex')}`;

/**
 * Name of a template, which stays for later runs. If another build of the same version made it, each start upgrades it
 * like any other database.
 */
const templateName = (state: State): string => {
  const made = JSON.stringify([softwareVersion(), CORE.migrations.map(digestOf), encryptionKey()]);
  return `svc_template_${state}_${createHash('sha256').update(made).digest('hex').slice(0, 12)}`;
};

/** Drops the templates, so that the next run makes new ones. */
export async function dropTemplates(): Promise<void> {
  const server = await serverOfProcess.lease();
  for (const state of ['started', 'new'] as const) await dropDatabase(server.url, templateName(state));
  await server.release();
}

async function copyTemplate(adminUrl: string, state: State, name: string): Promise<void> {
  const template = templateName(state);
  try {
    await copyDatabase(adminUrl, template, name);
  } catch (error) {
    if (!isUndefinedDatabase(error)) throw error;
    await makeTemplate(adminUrl, state);
    await copyDatabase(adminUrl, template, name);
  }
}

const isUndefinedDatabase = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '3D000';

/**
 * Makes a template. If several processes need it, one makes it and the others wait. It gets its name only when it is
 * complete.
 */
async function makeTemplate(adminUrl: string, state: State): Promise<void> {
  const template = templateName(state);
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [template]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [template]);
    if (rowCount === 1) return;
    const name = newName();
    try {
      if (state === 'new') await makeTemplateDatabase(adminUrl, name);
      else await makeStartedDatabase(adminUrl, name);
      await client.query(`alter database ${name} rename to ${template}`);
    } catch (error) {
      await dropDatabase(adminUrl, name);
      throw error;
    }
  } finally {
    await client.end();
  }
}

/**
 * Makes a database with all that a first start stores: keys, the first Client and the first User. Most tests begin with
 * it, which saves each of them half a second.
 */
async function makeStartedDatabase(adminUrl: string, name: string): Promise<void> {
  await copyTemplate(adminUrl, 'new', name);
  const { app, url } = await startApp(databaseUrl(adminUrl, name));
  await fetch(`${url}/Patient`, { headers: { Authorization: ROOT } }); // refreshes the caches after the first writes
  await app.close();
}

/**
 * A PostgreSQL that runs as long as code in this process uses it. If it ran longer, it would keep the process alive.
 */
class SharedServer {
  private leases = 0;
  private server: Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> | undefined;
  private ended: Promise<void> | undefined;

  async lease(): Promise<{ readonly url: string; release(): Promise<void> }> {
    const given = process.env.TEST_DATABASE_URL;
    if (given !== undefined) return { url: given, release: () => Promise.resolve() };
    this.leases++;
    try {
      await this.ended;
      this.server ??= startKeptPostgres(clustersOfProject());
      const { url } = await this.server;
      return { url, release: () => this.release() };
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  private async release(): Promise<void> {
    if (--this.leases > 0) return;
    const { server } = this;
    this.server = undefined;
    this.ended = server?.then(
      ({ stop }) => stop(),
      () => undefined, // it did not start
    );
    await this.ended;
  }
}

const serverOfProcess = new SharedServer();

/** The folder of the embedded clusters that test runs of this project use. */
export const clustersOfProject = (): string => join(process.cwd(), 'node_modules', '.cache', 'svc-health-server');

/**
 * Starts the first embedded cluster in the folder that no other process uses. The cluster keeps its templates for later
 * runs. If several runs go on at the same time, each has its own cluster.
 */
async function startKeptPostgres(folder: string): Promise<EmbeddedPostgres> {
  for (let number = 1; ; number++) {
    const dataDirectory = join(folder, `${softwareVersion()}-${number}`);
    try {
      const server = await startCluster(dataDirectory);
      await dropLeftovers(server.url);
      return server;
    } catch (error) {
      if (!(error instanceof DirectoryInUseError)) throw error;
    }
  }
}

async function startCluster(dataDirectory: string): Promise<EmbeddedPostgres> {
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({
      dataDirectory,
      isDurable: false,
      // Copies and drops of databases write checkpoints anyway, so little WAL is needed.
      settings: { max_connections: '300', max_prepared_transactions: '10', max_wal_size: '512MB' },
    });
  return start().catch(async (error: unknown) => {
    if (!(error instanceof StartError) || error instanceof DirectoryInUseError) throw error;
    await rm(dataDirectory, { recursive: true, force: true }); // a crash of the machine broke it, since nothing was synced
    return start();
  });
}

/** Drops databases that remain from runs that were killed. */
async function dropLeftovers(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database where datname like 'svc\\_test\\_%'`,
  );
  for (const { name } of rows) await client.query(`drop database ${name} with (force)`);
  await client.end();
}
