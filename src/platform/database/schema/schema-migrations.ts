import { type Client } from 'pg';
import { StartError } from '../../errors/start-error';
import { CORE } from './all-migrations';
import {
  digestOf,
  functionsMadeBy,
  type Migration,
  type MigrationSet,
  tablesDroppedBy,
  tablesMadeBy,
} from '../migration';
import { assertOwnTables, assertServerFunctions, readRelations } from './module-tables';

interface MigrationRow {
  readonly name: string;
  /** Absent in a database of release 0.1.0. */
  readonly module?: string;
  /** Null or absent if release 0.1.0 applied the migration. */
  readonly digest?: string | null;
}

/** A migration that a database lacks, with its module. */
export interface PendingMigration {
  readonly module: string;
  readonly migration: Migration;
}

/**
 * Returns the migrations that the next start will apply, in order. Changes nothing.
 * @throws StartError if the database belongs to a newer release, to a server with other migrations, or to another
 * program, or if it is incomplete
 */
export async function pendingMigrations(client: Client, sets: readonly MigrationSet[]): Promise<PendingMigration[]> {
  const rows = await readRows(client);
  const existing = new Set((await readRelations(client)).values());
  return sets.flatMap((set) => {
    const own = rows.filter(({ module = CORE.module }) => module === set.module);
    const refusal = own.length === 0 ? refusalOfNew(set, existing) : refusalOfMigrated(set, own, existing);
    if (refusal !== undefined) throw new StartError(refusal);
    const pending = set.migrations.filter(({ name }) => !own.some((row) => row.name === name));
    return pending.map((migration) => ({ module: set.module, migration }));
  });
}

function refusalOfNew({ module, migrations }: MigrationSet, existing: ReadonlySet<string>): string | undefined {
  if (module !== CORE.module && SERVER_WORDS.has(firstWordOf(module)))
    return `The prefix "${module}" of the migrations of a module begins as tables of the server do, which may get more of them. Begin it with a name of your own, such as "acme_${module}".`;
  const foreign = tablesOf(migrations).filter((name) => existing.has(name));
  if (foreign.length === 0) return undefined;
  if (module !== CORE.module) {
    return `The database has no migration with the prefix "${module}", but these tables of its migrations: ${foreign.join(', ')}. Give the module another prefix, or restore the whole backup if they come from one.`;
  }
  return `The database has no list of migrations, but tables of these names: ${foreign.join(', ')}. They belong to another program, or to a backup that was restored in part: use an empty database, or restore the whole backup.`;
}

/** Returns why the server cannot start with these rows of `schema_migration`; undefined if it can. */
function refusalOfMigrated(
  { module, migrations }: MigrationSet,
  rows: readonly MigrationRow[],
  existing: ReadonlySet<string>,
): string | undefined {
  const rowOf = ({ name }: Migration): MigrationRow | undefined => rows.find((row) => row.name === name);
  const applied = migrations.filter((migration) => rowOf(migration) !== undefined);
  if (applied.length === 0 && module === CORE.module) return FOREIGN_LIST;
  const unknown = rows.filter(({ name }) => applied.every((migration) => migration.name !== name));
  if (unknown.length > 0) {
    const newer = module === CORE.module ? 'server' : `release of the module with the prefix "${module}"`;
    return `The database was migrated by a newer ${newer} (${unknown.map(({ name }) => name).join(', ')}). Start that version, or restore the backup that was made before the upgrade.`;
  }
  const gap = migrations.slice(0, applied.length).find((migration) => rowOf(migration) === undefined);
  if (gap !== undefined) {
    const advice =
      module === CORE.module
        ? 'restore the backup that was made before the upgrade'
        : `if it is new, move it to the end of the migrations with the prefix "${module}", with a later timestamp; if not, restore the backup that was made before the upgrade`;
    return `The migration ${gap.name} is missing in schema_migration, though later ones were applied: ${advice}.`;
  }
  const changed = applied.find(
    (migration) => (rowOf(migration)?.digest ?? digestOf(migration)) !== digestOf(migration),
  );
  if (changed !== undefined) {
    return `The migration ${changed.name} was applied with other SQL than this build of the server has: start the build that applied it, or restore a backup of this release.`;
  }
  const missing = tablesOf(applied).filter((name) => !existing.has(name));
  if (missing.length === 0) return undefined;
  return `Tables are missing that applied migrations made: ${missing.join(', ')}. The database was restored in part: restore the whole backup.`;
}

/**
 * Prepares the list of migrations for {@link applyMigration}, and adds digests to rows that 0.1.0 wrote. A list with
 * all columns is not altered: that would lock it exclusively, and a start would wait for pg_dump, which locks all
 * tables.
 */
export async function prepareList(client: Client): Promise<void> {
  if (!(await columnsOfList(client)).includes('digest')) {
    await client.query(
      'create table if not exists schema_migration (id serial primary key, timestamp bigint not null, name text not null)',
    );
    await client.query(`alter table schema_migration
      add column if not exists module text not null default '${CORE.module}', add column if not exists digest text`);
  }
  await client.query(
    `update schema_migration s set digest = k.digest from unnest($1::text[], $2::text[]) k (name, digest)
    where s.name = k.name and s.module = $3 and s.digest is null`,
    [CORE.migrations.map(({ name }) => name), CORE.migrations.map(digestOf), CORE.module],
  );
}

/**
 * Applies a migration and adds its row, in one transaction unless the statements cannot run in one.
 * @throws Error of PostgreSQL, or for a migration of a module that changes tables of the server
 */
export async function applyMigration(client: Client, { module, migration }: PendingMigration): Promise<void> {
  const { isApart, name, statements } = migration;
  if (isApart === undefined) await client.query('begin');
  try {
    const before = module === CORE.module ? undefined : await readRelations(client);
    for (const text of statements) await client.query(text);
    if (before !== undefined) {
      await assertOwnTables(client, module, before, SERVER_TABLES);
      await assertServerFunctions(client, SERVER_FUNCTIONS);
    }
    await client.query('insert into schema_migration (timestamp, module, name, digest) values ($1, $2, $3, $4)', [
      Number(name.slice(-13)),
      module,
      name,
      digestOf(migration),
    ]);
    if (isApart === undefined) await client.query('commit');
  } catch (error) {
    if (isApart === undefined) await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function columnsOfList(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ column_name: string }>(
    `select column_name from information_schema.columns
    where table_schema = current_schema and table_name = 'schema_migration'`,
  );
  return rows.map(({ column_name }) => column_name);
}

async function readRows(client: Client): Promise<MigrationRow[]> {
  const names = await columnsOfList(client);
  if (names.length === 0) return [];
  if (!['id', 'timestamp', 'name'].every((name) => names.includes(name))) throw new StartError(FOREIGN_LIST);
  return (await client.query<MigrationRow>('select * from schema_migration order by id')).rows;
}

const FOREIGN_LIST =
  'The table schema_migration of this database belongs to another program: use another database for this server.';

function tablesOf(migrations: readonly Migration[]): string[] {
  const statements = migrations.flatMap((migration) => migration.statements);
  const dropped = tablesDroppedBy(statements);
  return tablesMadeBy(statements).filter((name) => !dropped.includes(name));
}

const SERVER_TABLES = ['schema_migration', ...tablesOf(CORE.migrations)];
const firstWordOf = (name: string): string => name.split('_', 1)[0] ?? '';

/** The first words of the server's tables, and that of later ones (docs/how-to/extend.md). */
export const SERVER_WORDS: ReadonlySet<string> = new Set(['svc', ...SERVER_TABLES.map(firstWordOf)]);
const SERVER_FUNCTIONS = functionsMadeBy(CORE.migrations.flatMap(({ statements }) => statements));
