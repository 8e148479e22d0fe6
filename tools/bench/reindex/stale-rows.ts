import { setTimeout as delay } from 'node:timers/promises';
import { type Client } from 'pg';
import { INDEX_JOB_LOCK } from '../../../src/platform/database/advisory-locks';
import { requestReindex } from '../../reindex/request-reindex';

const TABLES = ['search_token', 'reference_link', 'search_date', 'search_number', 'search_string'];
const POLL_MILLISECONDS = 200;

/** Waits until no search parameter is unfinished. */
export async function untilBuilt(client: Client): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query(`select from search_parameter_state where state <> 'active' limit 1`);
    if (rowCount === 0) return;
    await delay(POLL_MILLISECONDS);
  }
}

/**
 * Marks all rows for a rebuild, and makes some stale, as an older release could have left them: some Observations have
 * the rows of another Observation, and some lack their references. If all rows were correct, a response from rows that
 * are not rebuilt yet would not be noticed.
 * @param known settles when the server has read the marks
 * @returns a function that lets the job begin
 */
export async function makeStale(
  client: Client,
  {
    swapped,
    unlinked,
    known,
  }: { readonly swapped: readonly string[]; readonly unlinked: readonly string[]; readonly known: () => Promise<void> },
): Promise<() => Promise<void>> {
  await client.query('select pg_advisory_lock($1)', [INDEX_JOB_LOCK]);
  await requestReindex(client, []);
  await known();
  await client.query('begin');
  await client.query(
    `create temp table pair on commit drop as
     select resource_key, case place % 2 when 0 then lead(resource_key) over w else lag(resource_key) over w end as other
     from (
       select resource_key, row_number() over (order by id) - 1 as place from resource
       where type = 'Observation' and id = any($1::text[])
     ) listed window w as (order by place)`,
    [swapped],
  );
  for (const table of TABLES) {
    await client.query(
      `update ${table} s set resource_key = -p.other from pair p where s.resource_key = p.resource_key and p.other is not null`,
    );
    await client.query(`update ${table} set resource_key = -resource_key where resource_key < 0`);
  }
  await client.query(
    `delete from reference_link s using resource r
     where s.resource_key = r.resource_key and r.type = 'Observation' and r.id = any($1::text[])`,
    [unlinked],
  );
  await client.query('commit');
  return async () => {
    await client.query('select pg_advisory_unlock($1)', [INDEX_JOB_LOCK]);
  };
}

/** The number of resources that the last index job indexed. */
export async function countIndexed(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    `select coalesce(sum(total), 0) as count from (
       select max(total_count) as total from search_parameter_state group by resource_type
     ) by_type`,
  );
  return Number(rows[0]?.count ?? 0);
}
