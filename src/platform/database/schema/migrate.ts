import { setTimeout as delay } from 'node:timers/promises';
import { type Client } from 'pg';
import { StartError } from '../../errors/start-error';
import { MIGRATION_LOCK } from '../advisory-locks';
import { type Migration, type MigrationSet, tablesMadeBy } from '../migration';
import { CORE } from './all-migrations';
import { sessionSettings } from '../data-source-options';
import { DatabaseClient, reasonOf } from '../database-client';
import { databaseErrorToServiceError, isInsufficientPrivilege, isLockNotAvailable } from '../database-error';
import { isSystemError } from '../../errors/system-error';
import { isBackendOf } from '../pooler';
import { ROW_FORMAT } from '../row-format';
import { connectedServers, lockHolder, MIGRATION_SESSION, watchWaits } from './other-sessions';
import { applyMigration, type PendingMigration, pendingMigrations, prepareList } from './schema-migrations';

const LOCK_PAUSE_MILLISECONDS = 100;

/** An hour, since a migration may rewrite a large table. */
const MIGRATION_TIMEOUT_SECONDS = 3600;

/** Time limit for connecting. It is needed because a packet filter may drop packets without an answer. */
const CONNECT_TIMEOUT_MILLISECONDS = 10_000;

const OLDEST_POSTGRESQL = 140_000;

/** Receives a line for the person who starts the server. */
type Tell = (line: string) => void;

/** Throws a StartError if the server cannot run on this database. It runs before any change. */
type Check = (client: Client) => Promise<void>;

const NO_CHECK: Check = () => Promise.resolve();

/**
 * Migrates the database at `url` to the schema of this release, and then the tables of other teams' modules. Replicas
 * that start together wait for each other.
 * @throws StartError if PostgreSQL is older than 14 or refuses the connection, if the connection loses its settings, or
 * if the database has no Unicode encoding, belongs to another program, or does not fit this release
 */
export function migrate(
  url: string,
  tell: Tell = () => undefined,
  sets: readonly MigrationSet[] = [],
  check = NO_CHECK,
): Promise<void> {
  return connected(url, async (client) => {
    const pid = await assertSuitable(client); // before the lock: a transaction pooler would keep the lock
    await waitForLock(client, tell);
    const pending = await pendingMigrations(client, [CORE, ...sets]);
    if (pending.length > 0) await assertMayMigrate(client, tablesNamedBy(pending, [CORE, ...sets]));
    await check(client);
    const older = await olderServers(client, pending);
    if (older !== undefined) tell(older);
    await prepareList(client);
    const isFirstStart = pending.filter(({ module }) => module === CORE.module).length === CORE.migrations.length;
    for (const one of pending) {
      const { name } = one.migration;
      if (!isFirstStart) tell(`Migrating the database: ${name}`);
      const endWatch = watchWaits(url, pid, (sessions) => {
        tell(`The migration ${name} waits for other transactions of the database: ${sessions}.`);
      });
      await applyMigration(client, one)
        .catch((error: unknown) => {
          throw failedMigration(one, error);
        })
        .finally(endWatch);
    }
  });
}

/**
 * Returns a warning if servers of an older release are connected. While a migration of the server is pending, no server
 * of this release serves, so each connected server is older. Their release is not known.
 */
async function olderServers(client: Client, pending: readonly PendingMigration[]): Promise<string | undefined> {
  if (!pending.some(({ module }) => module === CORE.module)) return undefined;
  const servers = await connectedServers(client);
  return servers === undefined
    ? undefined
    : `Servers of an older release use the database (${servers}). If docs/how-to/upgrade.md says so for that release, stop all of them first.`;
}

function failedMigration({ module, migration }: PendingMigration, error: unknown): unknown {
  const { name } = migration;
  if (isLockNotAvailable(error)) {
    return new StartError(
      `The migration ${name} waited too long for a table that others use, and ${keptOf(migration)}. Start again, or stop other servers and programs of this database first.`,
      { cause: error },
    );
  }
  if (module === CORE.module) return error;
  // The text may contain values. But it is the SQL of the team that runs the server, and only the person who starts the
  // server sees it.
  return new StartError(
    `The migration ${name} of the module with the prefix "${module}" failed, and ${keptOf(migration)}: ${reasonOf(error)}`,
    { cause: error },
  );
}

/** Describes the rest of a failed migration: with `isApart` each statement commits, so a start repeats them all. */
const keptOf = ({ isApart }: Migration): string =>
  isApart === undefined ? 'nothing of it is kept' : 'only its finished steps are kept';

export interface PlannedMigrations {
  readonly names: readonly string[];
  /** A warning if servers of an older release are connected. */
  readonly olderServers: string | undefined;
  /** The existing tables that the migrations name, with their bytes on disk and their estimated number of rows. */
  readonly tables: readonly { readonly name: string; readonly bytes: number; readonly rows: number }[];
}

/** Tables of the sets that pending migrations name. Another table may have a word of their SQL as its name. */
function tablesNamedBy(pending: readonly PendingMigration[], sets: readonly MigrationSet[]): string[] {
  const words = new Set(pending.flatMap(({ migration }) => migration.statements.join('\n').match(/\w+/g) ?? []));
  const made = tablesMadeBy(sets.flatMap(({ migrations }) => migrations.flatMap(({ statements }) => statements)));
  return made.filter((name) => words.has(name));
}

/** The existing tables of the names in $1. */
const NAMED_TABLES = `pg_class where relkind = 'r' and relnamespace = quote_ident(current_schema)::regnamespace
  and relname = any($1::text[])`;

/** Checks the rights of the role before the first migration, after which an older release could not start. */
async function assertMayMigrate(client: Client, named: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ fault: string | null }>(
    `select case when not has_schema_privilege(current_schema::text, 'create') then 'permission denied for schema ' || current_schema
      else 'it does not own ' || string_agg(relname, ', ' order by relname) end as fault
    from ${NAMED_TABLES} and not pg_has_role(relowner, 'usage')`,
    [['schema_migration', ...named]],
  );
  const fault = rows[0]?.fault ?? undefined;
  if (fault !== undefined) throw rightLacks(fault);
}

const rightLacks = (fault: string, cause?: unknown): StartError =>
  new StartError(
    `The role of DATABASE_URL lacks a right: ${fault}. Let it own the database and its tables (docs/how-to/deploy.md, "First start").`,
    { cause },
  );

/** Returns the work of {@link migrate}, and changes nothing. Throws the same errors. */
export function planMigrations(
  url: string,
  sets: readonly MigrationSet[] = [],
  check = NO_CHECK,
): Promise<PlannedMigrations> {
  return connected(url, async (client) => {
    await assertSuitable(client);
    const pending = await pendingMigrations(client, [CORE, ...sets]);
    const named = tablesNamedBy(pending, [CORE, ...sets]);
    if (pending.length > 0) await assertMayMigrate(client, named);
    await check(client);
    const { rows: tables } = await client.query<PlannedMigrations['tables'][number]>(
      `select relname as name, pg_total_relation_size(oid)::float8 as bytes, greatest(reltuples, 0)::float8 as rows
      from ${NAMED_TABLES} order by bytes desc, name`,
      [named],
    );
    const names = pending.map(({ migration }) => migration.name);
    return { names, olderServers: await olderServers(client, pending), tables };
  });
}

async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectedClient(url);
  try {
    return await work(client);
  } catch (error) {
    if (isInsufficientPrivilege(error)) throw rightLacks(error.message, error);
    // An error of operation, such as a full disk, a shutdown or a time limit. Its message contains no values of rows.
    if (databaseErrorToServiceError(error) === undefined) throw error;
    throw new StartError(
      `PostgreSQL ended the work on the schema: ${reasonOf(error)}. Remove the cause and start again: committed steps are kept, and the others are repeated.`,
      { cause: error },
    );
  } finally {
    await client.end(); // ends the session, which releases the lock
  }
}

async function connectedClient(url: string): Promise<Client> {
  try {
    const client = new DatabaseClient({
      connectionString: url,
      application_name: MIGRATION_SESSION,
      options: sessionSettings(MIGRATION_TIMEOUT_SECONDS),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MILLISECONDS,
    });
    return await client.connect();
  } catch (error) {
    throw error instanceof StartError ? error : new StartError(connectionRefusal(error), { cause: error });
  }
}

const LOST_SETTINGS = 'The database connection loses the settings of its session: remove "options" from DATABASE_URL.';
const POOLER =
  'DATABASE_URL leads through a pooler, which keeps no settings of a session: set SVC_DATABASE_DIRECT_URL to the URL of PostgreSQL itself beside it.';
const STANDBY =
  'DATABASE_URL leads to a standby, which takes no writes: name the primary, or all hosts with target_session_attrs=read-write.';
const READ_ONLY =
  'The sessions of DATABASE_URL are read-only: remove default_transaction_read_only from the role, the database and postgresql.conf.';
const NO_SCHEMA =
  'No schema of the search_path exists, so tables have no place: correct the search_path of the role or the database, or create the schema.';
const LETTERS_MISSING =
  'The database must know the letters of all languages, or searches would miss names such as "Muñoz". ' +
  `Create it by: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'`;

/**
 * Returns the message for a connection that failed. The message of the driver may name the user, the database or the
 * address. For an invalid URL a fixed text is used, since the URL contains the password.
 */
function connectionRefusal(error: unknown): string {
  // The message of PgBouncer, which refuses session settings.
  if (error instanceof Error && error.message.startsWith('unsupported startup parameter')) return POOLER;
  if (isSystemError(error, 'ERR_INVALID_URL'))
    return 'DATABASE_URL is no URL: escape special characters of the password.';
  return `The database of DATABASE_URL refuses the connection or cannot be reached: ${reasonOf(error)}`;
}

/**
 * Waits for the migration lock by polling. A statement that waits for the lock would hold a snapshot, and a concurrent
 * index build of another server waits for all older snapshots.
 */
async function waitForLock(client: Client, tell: Tell): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.locked === true) return;
    if (tries === 10)
      tell(
        `Another server migrates the database: waiting for it. PostgreSQL: ${await lockHolder(client, MIGRATION_LOCK)}.`,
      );
    await delay(LOCK_PAUSE_MILLISECONDS);
  }
}

/**
 * Checks that the server can use and change the database. If its locale does not have the letters of all languages,
 * case-insensitive searches would silently miss names.
 * @returns the process id of the backend
 */
async function assertSuitable(client: Client): Promise<number> {
  const { rows } = await client.query<{
    version: string;
    encoding: string;
    ignores_case: boolean;
    is_standby: boolean;
    is_read_only: boolean;
    has_schema: boolean;
    format: string | null;
    pid: number;
  }>(
    `select pg_backend_pid() as pid, current_setting('server_version_num') as version, current_setting('server_encoding') as encoding,
      'Ñ' ilike 'ñ' as ignores_case, pg_is_in_recovery() as is_standby, current_schema is not null as has_schema,
      current_setting('transaction_read_only')::boolean as is_read_only, current_setting('svc.row_format', true) as format`,
  );
  const [found] = rows as [(typeof rows)[number]];
  const faults: readonly (readonly [isFound: boolean, message: string])[] = [
    [Number(found.version) < OLDEST_POSTGRESQL, 'PostgreSQL 14 or newer is needed.'],
    [found.format !== String(ROW_FORMAT), isBackendOf(client, found.pid) ? LOST_SETTINGS : POOLER],
    [found.is_standby, STANDBY],
    [found.is_read_only, READ_ONLY],
    [!found.has_schema, NO_SCHEMA],
    [found.encoding !== 'UTF8' || !found.ignores_case, LETTERS_MISSING],
  ];
  const fault = faults.find(([isFound]) => isFound);
  if (fault !== undefined) throw new StartError(fault[1]);
  return found.pid;
}
