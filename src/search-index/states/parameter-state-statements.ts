import { type Statement } from '../../platform/database/statement';

/** All SQL of the tables `search_parameter_state` and `search_parameter_version` (ADR 0019, ADR 0051). */

const COLUMNS = `parameter_key, definition_id, resource_type, code, kind, expression, targets, components, state, done_count,
  total_count, started_at, finished_at`;

/** Assignments that start the pass over the resources of the type again. */
const FROM_THE_START = `done_count = 0, total_count = 0, next_step_at = clock_timestamp(), started_at = null, finished_at = null,
  last_id = '', writers = null`;

/** Reads the version, the stored parameters and the unfinished ones in one snapshot. */
export const READ_SET: Statement = {
  name: 'parameter-state-set',
  text: `select version, (
      select json_agg(json_build_object('type', resource_type, 'code', code, 'kind', kind, 'expression', expression,
        'targets', targets, 'components', components) order by parameter_key)::text
      from search_parameter_state where definition_id is not null and state <> 'removing'
    ) as live, (
      select json_agg(json_build_array(resource_type, code) order by parameter_key)::text
      from search_parameter_state where state = 'building'
    ) as unfinished, (
      select digest from server_setup where name = $1
    ) as definitions from search_parameter_version`,
};

export const READ_BITS: Statement = {
  name: 'parameter-state-bits',
  text: `select resource_type, json_object_agg(code, presence_bit)::text as bits from search_parameter_state
    where presence_bit is not null group by resource_type`,
};

/** Reads all states and locks them until the transaction ends, so that no stored definition changes meanwhile. */
export const LOCK_ALL: Statement = {
  name: 'parameter-state-lock-all',
  text: `select ${COLUMNS}, presence_bit, digest from search_parameter_state order by parameter_key for update`,
};

/** Notes parameters of HL7 and of modules whose index must be built: new ones, and those with a changed digest. */
export const BUILD: Statement = {
  name: 'parameter-state-build',
  text: `insert into search_parameter_state (state, resource_type, code, digest, presence_bit)
    select 'building', u.* from unnest($1::text[], $2::text[], $3::text[], $4::smallint[]) u
    on conflict (resource_type, code) do update set state = 'building', digest = excluded.digest,
      presence_bit = excluded.presence_bit, definition_id = null, kind = null, expression = null, targets = null,
      components = null, ${FROM_THE_START}`,
};

/** Notes parameters of stored SearchParameters whose index must be rebuilt. */
export const REBUILD: Statement = {
  name: 'parameter-state-rebuild',
  text: `update search_parameter_state s set state = 'building', digest = u.digest, ${FROM_THE_START}
    from unnest($1::bigint[], $2::text[]) u(parameter_key, digest) where s.parameter_key = u.parameter_key`,
};

/**
 * Notes parameters whose rows must be removed. Their presence bits become free when the rows are removed and the states
 * deleted.
 */
export const REMOVE: Statement = {
  name: 'parameter-state-remove',
  text: `update search_parameter_state set state = 'removing', ${FROM_THE_START} where parameter_key = any($1::bigint[])`,
};

export const RAISE_VERSION: Statement = {
  name: 'parameter-state-raise-version',
  text: 'update search_parameter_version set version = version + 1',
};

export const LIST_OF_DEFINITION: Statement = {
  name: 'parameter-state-of-definition',
  text: `select ${COLUMNS} from search_parameter_state where definition_id = $1 order by resource_type, parameter_key`,
};

export const LIST_NAMED: Statement = {
  name: 'parameter-state-named',
  text: `select ${COLUMNS} from search_parameter_state s join unnest($1::text[], $2::text[]) u(resource_type, code)
    using (resource_type, code) order by parameter_key`,
};

export const LIST_UNFINISHED: Statement = {
  name: 'parameter-state-unfinished',
  text: `select ${COLUMNS} from search_parameter_state where state <> 'active' order by resource_type, parameter_key`,
};

export const COUNT_OF_TYPE: Statement = {
  name: 'parameter-state-count',
  text: `select count(*) as count from search_parameter_state
    where resource_type = $1 and definition_id is not null and state <> 'removing'`,
};

/**
 * Adds or changes the parameter of a stored definition. If a parameter with this code is being removed, the new one
 * takes its place, and the same pass removes the old rows. Returns no row if another definition has the code.
 */
export const PUT: Statement = {
  name: 'parameter-state-put',
  text: `insert into search_parameter_state
      (definition_id, resource_type, code, kind, expression, targets, components, digest, state)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (resource_type, code) do update set definition_id = excluded.definition_id, kind = excluded.kind,
      expression = excluded.expression, targets = excluded.targets, components = excluded.components,
      digest = excluded.digest, presence_bit = null, state = 'building', ${FROM_THE_START}
    where search_parameter_state.state = 'removing' or search_parameter_state.definition_id = excluded.definition_id
    returning parameter_key`,
};

export const LOCK_NEW: Statement = {
  name: 'index-job-new',
  text: `select parameter_key from search_parameter_state where state <> 'active' and writers is null for update skip locked`,
};

/**
 * Lists the transactions that may have written resources with older parameters: those that hold the lock of a writer. A
 * transaction that is not listed locks the table before it takes its snapshot, so it sees the new version and checks
 * it.
 */
export const LIST_WRITERS: Statement = {
  name: 'index-job-writers',
  text: `select coalesce(array_agg(distinct virtualtransaction), '{}') as writers from pg_locks
    where locktype = 'relation' and relation = 'resource'::regclass and mode = 'RowExclusiveLock' and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())
      and ($1::text[] is null or virtualtransaction = any($1))`,
};

/**
 * Begins the pass of new parameters over the resources of their types. Returns the types, with the number of resources
 * of each.
 */
export const BEGIN: Statement = {
  name: 'index-job-begin',
  text: `with counted as (
      select type, count(*) as count from resource
      where type = any(select resource_type from search_parameter_state where parameter_key = any($1::bigint[])) group by type
    ), begun as (
      update search_parameter_state s set writers = $2,
        total_count = coalesce((select c.count from counted c where c.type = s.resource_type), 0)
      where parameter_key = any($1::bigint[])
    ) select type, count from counted order by type`,
};

/** Locks begun parameters of types without resources: their pass has nothing to do. */
export const LOCK_EMPTY: Statement = {
  name: 'index-job-empty',
  text: `select parameter_key from search_parameter_state s
    where state <> 'active' and writers = '{}' and last_id = '' and not exists (select from resource r where r.type = s.resource_type)
    for update skip locked`,
};

/**
 * Locks the parameters of one type that are at the same position of their pass; one pass then serves them all.
 * Parameters without `writers` come first: no job has begun them. Then come types with few resources, so that most
 * indexes are complete soon.
 */
export const CLAIM: Statement = {
  name: 'index-job-claim',
  text: `with lead as materialized (
      select resource_type, last_id, writers from search_parameter_state
      where state <> 'active' and next_step_at <= clock_timestamp()
      order by writers is not null, total_count, parameter_key limit 1 for update skip locked
    ), claimed as materialized (
      select s.* from search_parameter_state s
      join lead on s.resource_type = lead.resource_type and s.last_id = lead.last_id and s.writers is not distinct from lead.writers
      where s.state <> 'active' order by s.parameter_key for update of s skip locked
    )
    select array_agg(parameter_key) as keys, array_agg(code) as codes, min(resource_type) as type, min(done_count) as "doneCount",
      max(total_count) as "totalCount", min(last_id) as "lastId", min(writers) as writers from claimed having count(*) > 0`,
};

/** Returns the milliseconds until the next step, or no row if there is no work. */
export const NEXT_STEP: Statement = {
  name: 'index-job-next-step',
  text: `select greatest(0, ceil(extract(epoch from min(next_step_at) - clock_timestamp()) * 1000))::integer as pause
    from search_parameter_state where state <> 'active' having count(*) > 0`,
};

export const SET_WRITERS: Statement = {
  name: 'index-job-set-writers',
  text: `update search_parameter_state set writers = $2, next_step_at = clock_timestamp() + $3 * interval '1 millisecond'
    where parameter_key = any($1::bigint[])`,
};

/**
 * The next resources by id (an index leads with the type), up to $4 bytes of bodies. Rows that another transaction
 * locks are skipped: waiting for a lock while holding others could deadlock with writers that lock several rows.
 * Resources created before this position are indexed by their writers.
 */
export const LOCK_BATCH: Statement = {
  name: 'index-job-lock-batch',
  text: `with next as materialized (
      select id from (
        select id, sum(size) over (order by id) - size as before
        from (select id, pg_column_size(body) as size from resource where type = $1 and id > $2 order by id limit $3) listed
      ) summed where before <= $4
    ), held as materialized (
      select id, version, resource_key, main_date, body from resource
      where type = $1 and id = any(array(select id from next)) for update skip locked
    ) select n.id, h.version, h.resource_key, h.main_date, h.body from next n left join held h on h.id = n.id order by n.id`,
};

/**
 * Records a step. The first step of a pass is its start, not the begin of the job: types wait for each other, and the
 * estimate of the time left divides the time since the start by the resources done.
 */
export const ADVANCE: Statement = {
  name: 'index-job-advance',
  text: `update search_parameter_state set last_id = $2, done_count = done_count + $3,
      started_at = coalesce(started_at, transaction_timestamp()),
      next_step_at = clock_timestamp() + $4 * interval '1 millisecond'
    where parameter_key = any($1::bigint[])`,
};

export const FINISH: Statement = {
  name: 'index-job-finish',
  text: `with gone as (
      delete from search_parameter_state where parameter_key = any($1::bigint[]) and state = 'removing'
    ) update search_parameter_state set state = 'active', finished_at = clock_timestamp(), total_count = done_count
    where parameter_key = any($1::bigint[]) and state = 'building'`,
};

/** Whether other sessions are active now. PostgreSQL does not show the state of sessions of other roles. */
export const IS_BUSY: Statement = {
  name: 'index-job-is-busy',
  text: `select exists (
      select from pg_stat_activity
      where state = 'active' and pid <> pg_backend_pid() and backend_type = 'client backend' and datname = current_database()
    ) as is_busy`,
};

/**
 * Progress by type. A pass indexes each resource of its type once, for any number of parameters. The sums are cast,
 * since a sum of bigint is numeric, which pg returns as text.
 */
export const METRICS: Statement = {
  name: 'parameter-state-metrics',
  text: `select coalesce(sum(parameters), 0)::integer as parameters, coalesce(sum(resources), 0)::bigint as resources from (
      select count(*) as parameters, greatest(0, max(total_count - done_count)) as resources
      from search_parameter_state where state <> 'active' group by resource_type
    ) by_type`,
};
