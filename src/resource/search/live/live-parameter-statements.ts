import { type Statement } from '../../../platform/database/statement';

/** All SQL of `live_search_parameter` and `search_parameter_version` (ADR 0019). */

const COLUMNS = `parameter_key, definition_id, resource_type, code, kind, expression, targets, components, state, done_count,
  total_count, started_at, finished_at`;

/** Version and parameters of one snapshot, except those that are being removed. */
export const READ_LIVE_SET: Statement = {
  name: 'live-parameter-set',
  text: `select version, (
      select json_agg(json_build_object('type', resource_type, 'code', code, 'kind', kind, 'expression', expression,
        'targets', targets, 'components', components, 'state', state, 'key', parameter_key) order by parameter_key)::text
      from live_search_parameter where state <> 'removing'
    ) as parameters from search_parameter_version`,
};

export const RAISE_VERSION: Statement = {
  name: 'live-parameter-raise-version',
  text: 'update search_parameter_version set version = version + 1',
};

export const LIST_OF_DEFINITION: Statement = {
  name: 'live-parameter-of-definition',
  text: `select ${COLUMNS} from live_search_parameter where definition_id = $1 order by resource_type, parameter_key`,
};

export const LIST_BUILDING: Statement = {
  name: 'live-parameter-building',
  text: `select ${COLUMNS} from live_search_parameter where state = 'building'`,
};

export const COUNT_OF_TYPE: Statement = {
  name: 'live-parameter-count',
  text: 'select count(*) as count from live_search_parameter where resource_type = $1',
};

/** Nothing comes back when the code is taken. */
export const INSERT: Statement = {
  name: 'live-parameter-insert',
  text: `insert into live_search_parameter (state, definition_id, resource_type, code, kind, expression, targets, components)
    values ('building', $1, $2, $3, $4, $5, $6, $7)
    on conflict (resource_type, code) where state <> 'removing' do nothing returning parameter_key`,
};

export const REMOVE: Statement = {
  name: 'live-parameter-remove',
  text: `update live_search_parameter set state = 'removing', done_count = 0, total_count = 0, next_step_at = clock_timestamp(),
      started_at = null, finished_at = null, last_id = '', writers = null
    where parameter_key = $1`,
};

/** The next job that is due and that nobody is at. An index is built when the rows of its predecessor are gone. */
export const CLAIM: Statement = {
  name: 'live-parameter-claim',
  text: `select ${COLUMNS}, last_id, writers from live_search_parameter due
    where state <> 'active' and next_step_at <= clock_timestamp() and not exists (
      select from live_search_parameter older where older.resource_type = due.resource_type and older.code = due.code
        and older.state = 'removing' and older.parameter_key < due.parameter_key)
    order by parameter_key limit 1 for update skip locked`,
};

/** In how many milliseconds there is something to do; no row when nothing is. */
export const NEXT_STEP: Statement = {
  name: 'live-parameter-next-step',
  text: `select greatest(0, ceil(extract(epoch from min(next_step_at) - clock_timestamp()) * 1000))::integer as pause
    from live_search_parameter where state <> 'active' having count(*) > 0`,
};

/**
 * Transactions that may have written resources by older parameters: those that hold the lock of a writer. A statement locks
 * the table before it takes its snapshot, so whoever is not among them sees, and checks, the new version.
 */
export const LIST_WRITERS: Statement = {
  name: 'live-parameter-writers',
  text: `select coalesce(array_agg(distinct virtualtransaction), '{}') as writers from pg_locks
    where locktype = 'relation' and relation = 'resource'::regclass and mode = 'RowExclusiveLock' and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())
      and ($1::text[] is null or virtualtransaction = any($1))`,
};

export const COUNT_RESOURCES: Statement = {
  name: 'live-parameter-count-resources',
  text: 'select count(*) as count from resource where type = $1',
};

export const BEGIN_JOB: Statement = {
  name: 'live-parameter-begin',
  text: `update live_search_parameter set started_at = coalesce(started_at, clock_timestamp()), total_count = $2, writers = $3
    where parameter_key = $1`,
};

export const SET_WRITERS: Statement = {
  name: 'live-parameter-set-writers',
  text: `update live_search_parameter set writers = $2, next_step_at = clock_timestamp() + $3 * interval '1 millisecond'
    where parameter_key = $1`,
};

/** By id: the index that stands for a type. What is created behind the place is indexed by its writer. */
export const LIST_BATCH: Statement = {
  name: 'live-parameter-batch',
  text: `select id, pg_column_size(body) as size from resource where type = $1 and id > $2 order by id limit $3`,
};

/** Never waits while it holds others: writers that lock several rows could wait for it in a circle. */
export const LOCK_BATCH: Statement = {
  name: 'live-parameter-lock-batch',
  text: `select id, version, resource_key, main_date, body from resource where type = $1 and id = any($2) for update skip locked`,
};

export const ADVANCE: Statement = {
  name: 'live-parameter-advance',
  text: `update live_search_parameter set last_id = $2, done_count = done_count + $3,
      next_step_at = clock_timestamp() + $4 * interval '1 millisecond'
    where parameter_key = $1`,
};

export const ACTIVATE: Statement = {
  name: 'live-parameter-activate',
  text: `update live_search_parameter set state = 'active', finished_at = clock_timestamp(), total_count = done_count
    where parameter_key = $1`,
};

export const DELETE: Statement = {
  name: 'live-parameter-delete',
  text: 'delete from live_search_parameter where parameter_key = $1',
};
