import { type Client } from 'pg';

/** Names of tables, views and sequences, by their ids in the catalog. */
export type Relations = ReadonlyMap<string, string>;

export async function readRelations(client: Client): Promise<Relations> {
  const { rows } = await client.query<{ id: string; name: string }>(
    `select oid::text as id, relname as name from pg_class
    where relnamespace = quote_ident(current_schema)::regnamespace and relkind in ('r', 'p', 'f', 'v', 'm', 'S')`,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Locks that a transaction holds until its end if it only reads a table. Every change takes a stronger one. */
const READING = `('AccessShareLock', 'RowShareLock')`;

/**
 * Checks in the transaction of a module's migration that it changes no table of the server, and that what it makes has
 * the prefix. PostgreSQL's locks show the changes, since no text shows them all: a foreign key changes its target too.
 * For a migration that runs apart, only the names are checked: its locks are gone.
 * @param serverTables the names of the tables of the server
 * @throws Error that says what the migration may not do
 */
export async function assertOwnTables(
  client: Client,
  prefix: string,
  before: Relations,
  serverTables: readonly string[],
): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `select distinct relation::text as id from pg_locks
    where pid = pg_backend_pid() and locktype = 'relation' and mode not in ${READING}`,
  );
  const changed = rows.map(({ id }) => before.get(id)).find((name) => serverTables.includes(name ?? ''));
  if (changed !== undefined) {
    throw new Error(
      `it changes ${changed}, which is a table of the server. It may read such tables; write resources by ResourceWriter, and create its own tables.`,
    );
  }
  for (const [id, name] of await readRelations(client)) {
    if (before.get(id) !== name && !name.startsWith(`${prefix}_`))
      throw new Error(`it makes ${name}, whose name must begin with "${prefix}_".`);
  }
}

/**
 * Checks in the same transaction that each function of the server is still the one that the server made: `create or
 * replace function` locks no table. A row of pg_proc has the transaction that wrote it.
 * @throws Error that names a function that the migration replaced, altered, overloaded or dropped
 */
export async function assertServerFunctions(client: Client, serverFunctions: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) name left join pg_proc
      on proname = name and pronamespace = quote_ident(current_schema)::regnamespace
    where proname is null or pg_proc.xmin = pg_current_xact_id()::xid`,
    [serverFunctions],
  );
  const [changed] = rows;
  if (changed !== undefined)
    throw new Error(`it changes ${changed.name}(), which is a function of the server. Make one with another name.`);
}
