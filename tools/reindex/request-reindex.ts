import { type Client } from 'pg';
import { nearestCode } from '../../src/platform/text/nearest-code';

export interface ReindexProgress {
  /** Whether the servers have started with all types, or finished them. */
  readonly isBegun: boolean;
  readonly isDone: boolean;
  readonly done: number;
  readonly total: number;
}

/**
 * Marks all parameters of these types for a rebuild. If some of a type are already being built, the build of that type
 * continues instead.
 * @param names the types; empty for all types, or for those that are being built: a repeated call must not begin
 * finished types again
 * @returns the types
 * @throws Error for a type without search parameters, with the nearest type that has some; or for a database on which
 * no server has compared its parameters
 */
export async function requestReindex(
  client: Client,
  names: readonly string[],
  write: (line: string) => void = () => undefined,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ type: string; is_building: boolean }>(
    `select resource_type as type, bool_or(state = 'building') as is_building from search_parameter_state group by 1 order by 1`,
  );
  const known = rows.map(({ type }) => type);
  const compared = await client.query(`select from server_setup where name = 'search-index'`);
  if (compared.rows.length === 0)
    throw new Error('No server of this version has been started on this database: its first start builds all rows.');
  for (const name of names.filter((one) => !known.includes(one))) {
    const near = nearestCode(name, known);
    throw new Error(
      `"${name}" is no type with search parameters.${near === undefined ? '' : ` Did you mean "${near}"?`}`,
    );
  }
  const building = rows.filter((row) => row.is_building).map(({ type }) => type);
  if (names.length === 0 && building.length > 0) {
    write('A rebuild is in progress: this call shows the rest of it, and starts no other.');
    return building;
  }
  const types = names.length === 0 ? known : names;
  const idle = types.filter((type) => !building.includes(type));
  if (idle.length > 0) await note(client, idle);
  return types;
}

/** Invalidates the digests of stored rows (ADR 0043), and makes servers read the states again. */
async function note(client: Client, types: readonly string[]): Promise<void> {
  await client.query('begin');
  await client.query(
    `update search_parameter_state set state = 'building', done_count = 0, total_count = 0, next_step_at = clock_timestamp(),
      started_at = null, finished_at = null, last_id = '', writers = null
    where state = 'active' and resource_type = any($1)`,
    [types],
  );
  await client.query('update search_parameter_version set version = version + 1');
  await client.query('update registry_epoch set epoch = epoch + 1');
  await client.query('commit');
}

/** Counts resources once per type, however many parameters it has. */
export async function progressOfTypes(client: Client, types: readonly string[]): Promise<ReindexProgress> {
  const { rows } = await client.query<{ is_begun: boolean; is_done: boolean; done: string; total: string }>(
    `select bool_and(is_begun) as is_begun, bool_and(is_done) as is_done, coalesce(sum(done), 0) as done,
      coalesce(sum(total), 0) as total
    from (
      select bool_and(state = 'active' or writers is not null) as is_begun, bool_and(state = 'active') as is_done,
        min(done_count) as done, max(total_count) as total
      from search_parameter_state where resource_type = any($1) group by resource_type
    ) by_type`,
    [types],
  );
  const [row] = rows;
  return {
    isBegun: row?.is_begun ?? true,
    isDone: row?.is_done ?? true,
    done: Number(row?.done ?? 0),
    total: Number(row?.total ?? 0),
  };
}
