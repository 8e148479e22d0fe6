import { WORKER_LOCK_CLASS } from '../platform/database/advisory-locks';
import { SYSTEM_IDENTIFIER, TIMELINE } from '../platform/database/cluster-identity';
import { type Statement } from '../platform/database/statement';
import { ARRAYS, EVENT_COLUMNS, MAX_BATCH_EVENTS } from './batch-row';

/** The SQL of delivery that runs often; `destination-statements.ts` has the rest. Times are by the database clock. */

/** How much longer a lease lasts than the timeout of the destination: the time for rendering and settling. */
export const LEASE_GRACE_SECONDS = 15;

/** Maximum size of the stored resources in a batch. A larger event is a batch alone. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/** How many errors `$status` shows (interface specification, "Status result of the destination"). */
const MAX_LAST_ERRORS = 5;

export const TAKE_SLOT: Statement = {
  name: 'delivery-take-slot',
  text: `select slot, pg_advisory_lock(${WORKER_LOCK_CLASS}, slot)
    from (select nextval('worker_slot')::integer as slot offset 0) taken`,
};

const LIVING_SLOTS = `select objid::bigint::integer from pg_locks
  where locktype = 'advisory' and classid = ${WORKER_LOCK_CLASS} and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`;

/**
 * Planner settings for one transaction: only index scans are allowed. Without them, PostgreSQL may cache a plan while
 * the queue is empty. When the queue is long, that plan would read or sort the whole queue for each batch, until the
 * next ANALYZE.
 */
export const PLAN_FOR_LONG_QUEUES: Statement = {
  name: 'delivery-plan-for-long-queues',
  text: ['sort', 'seqscan', 'bitmapscan', 'hashjoin', 'mergejoin']
    .map((way, index) => `${index === 0 ? 'select' : ','} set_config('enable_${way}', 'off', true)`)
    .join(''),
};

/** The generation (ADR 0036); null if it belongs to an earlier history of the database, or if delivery is held. */
const GENERATION_IN_FORCE = `(select generation from delivery_generation where not is_held
  and system_identifier = ${SYSTEM_IDENTIFIER} and timeline = ${TIMELINE})`;

export const RENEW_GENERATION: Statement = {
  name: 'delivery-renew-generation',
  text: 'select renew_delivery_generation(false) as finding, is_held from delivery_generation',
};

const LEASE = `clock_timestamp() + make_interval(secs => r.timeout_seconds + ${LEASE_GRACE_SECONDS})`;

/** Condition for the queued events `e` of a destination `r`. Below the mark are only deleted rows, which cost time. */
export const WAITING = 'e.destination_key = r.destination_key and e.event_id > r.low_water_mark';

/**
 * Condition for the open batch `b` of a destination `r`. The epoch, which each claim raises, limits the index scan:
 * while an old snapshot is open, settled batches stay in the index, with an earlier epoch.
 */
export const IS_OPEN = 'b.destination_key = r.destination_key and b.epoch > r.settled_epoch';

/**
 * Condition for the open batch `b` of a claim that is still in force: $1 destination, $2 epoch, $3 worker slot. It has
 * a subquery, so that the planner must use both columns of the index.
 */
const IS_CLAIMED = `b.destination_key = $1 and b.epoch > (
        select settled_epoch from destination_runtime where destination_key = $1 and epoch = $2 and owner_slot = $3)`;

/** Raises the low-water mark of the outbox (ADR 0035). It must be the only statement of its transaction. */
export const RAISE_MARK: Statement = { name: 'delivery-raise-mark', text: 'select raise_outbox_mark()' };

/**
 * Condition for a destination `r` that can be claimed: it has something to send, is due, and has no lease holder that
 * is alive. The queue itself shows whether there is something to send. A cursor over event numbers could miss events,
 * because events do not commit in the order of their numbers.
 */
const IS_ELIGIBLE = `${GENERATION_IN_FORCE} is not null and r.next_attempt_at <= clock_timestamp()
        and (r.owner_slot is null or r.lease_until < clock_timestamp() or r.owner_slot not in (${LIVING_SLOTS}))
        and (exists (select from open_batch b where ${IS_OPEN})
          or (select e.event_id from outbox_event e where ${WAITING} order by e.event_id limit 1) is not null)`;

/** Lists at most $1 destinations that can be claimed: the fewest failures in a row first, then the longest due. */
export const READ_DUE: Statement = {
  name: 'delivery-read-due',
  text: `select r.destination_key as "destinationKey", r.fail_streak as "failStreak"
    from destination_runtime r where ${IS_ELIGIBLE}
    order by r.fail_streak, r.next_attempt_at limit $1`,
};

/**
 * Claims the destination $2 for the worker $1, if it can be claimed. The cost does not depend on the number of
 * destinations. A worker that has lost its heartbeat lock must claim nothing, but may notice the loss late. So the
 * statement tries to take that lock: it succeeds only if no session holds the lock any more.
 */
export const CLAIM: Statement = {
  name: 'delivery-claim',
  text: `with claimer as materialized (
      select not pg_try_advisory_xact_lock(${WORKER_LOCK_CLASS}, $1) as is_alive
    ), due as (
      select r.destination_key, r.owner_slot is not null as is_orphaned from destination_runtime r
      where (select is_alive from claimer) and r.destination_key = $2 and ${IS_ELIGIBLE}
      for update of r skip locked
    )
    update destination_runtime r set epoch = r.epoch + 1, owner_slot = $1, lease_until = ${LEASE}
    from due where r.destination_key = due.destination_key
    returning r.destination_key as "destinationKey", r.destination_id as "destinationId", r.kind, r.presentation, r.epoch,
      r.owner_slot as slot, r.sealed_settings as "sealedSettings", r.timeout_seconds as "timeoutSeconds",
      r.max_messages_in_batch as "maxMessagesInBatch", r.attempt_log_level as "attemptLogLevel",
      r.fail_streak as "failStreak", due.is_orphaned as "isOrphaned"`,
};

const logged = (batch: string, values: { duration: string; isDelivered: boolean; outcome: string }): string =>
  `insert into delivery_attempt (destination_key, first_number, opened_at, event_count, is_replay,
      duration_milliseconds, is_delivered, outcome${values.isDelivered ? `, origin, ${ARRAYS}` : ''})
    select destination_key, first_number, created_at, cardinality(event_ids), is_replay,
      ${values.duration}, ${values.isDelivered}, ${values.outcome}${values.isDelivered ? `, origin, ${ARRAYS}` : ''}
    from ${batch}`;

/** SQL of the current hour, counted since 1970. */
export const HOUR = '(extract(epoch from statement_timestamp())::bigint / 3600)::integer';
const HOUR_ELEMENT = `mod(${HOUR}, 24) + 1`;

/** Adds to the counts of the current hour. The first count of an hour replaces that of the same hour yesterday. */
function countInHour({ delivered, failed }: { readonly delivered: string; readonly failed: string }): string {
  const sum = (column: string, added: string): string =>
    `${column}[${HOUR_ELEMENT}] = case when r.hour_numbers[${HOUR_ELEMENT}] = ${HOUR} then r.${column}[${HOUR_ELEMENT}] else 0 end + ${added}`;
  return `${sum('hour_delivered', delivered)}, ${sum('hour_failed', failed)}, hour_numbers[${HOUR_ELEMENT}] = ${HOUR}`;
}

/** SQL that counts a failed attempt to send the open batch `b` of a destination `r`. */
const countFailure = (outcome: string): string =>
  `failed_batches = r.failed_batches + 1, failed_events = r.failed_events + cardinality(b.event_ids),
        last_errors = jsonb_path_query_array(jsonb_build_array(jsonb_build_object('message', ${outcome}::text,
          'timestamp', clock_timestamp())) || r.last_errors, '$[0 to ${MAX_LAST_ERRORS - 1}]'),
        ${countInHour({ delivered: '0', failed: '1' })}`;

/** Counts and logs an attempt whose outcome is unknown ($1 destination, $2 text). It counts as failed. */
export const COUNT_UNKNOWN_OUTCOME: Statement = {
  name: 'delivery-count-unknown-outcome',
  text: `with counted as (
      update destination_runtime r set ${countFailure('$2')}
      from open_batch b where ${IS_OPEN} and r.destination_key = $1
      returning b.destination_key, b.first_number, b.created_at, b.event_ids, b.is_replay
    )
    ${logged('counted', { duration: 'null', isDelivered: false, outcome: '$2::text' })}`,
};

/**
 * Returns the open batch of the destination that the worker has claimed ($1 destination, $2 epoch, $3 worker slot, $4
 * maximum number of events, $5 base URL). If there is none, the oldest events move into a new batch. If there are no
 * events, the lease is released. It must be a separate statement that begins after CLAIM has locked the row; otherwise
 * it could see a batch that was settled in between. If all events of a delivered batch are replayed and fit, they form
 * the same batch again, with the same numbers, and so the same notification. Up to `low_water_mark`, the queue is empty
 * and each event is committed or gone in this snapshot (ADR 0035).
 */
export const OPEN_BATCH: Statement = {
  name: 'delivery-open-batch',
  text: `with owner as (
      select destination_key, next_event_number, low_water_mark, presentation from destination_runtime
      where destination_key = $1 and epoch = $2 and owner_slot = $3
    ), present as (
      select b.* from open_batch b where ${IS_CLAIMED}
    ), oldest as (
      select event_id, replayed_number, replayed_batch_at, replayed_origin, payload_bytes from outbox_event
      where destination_key = $1 and event_id > (select low_water_mark from owner) and not exists (select from present)
        and ${GENERATION_IN_FORCE} is not null
      order by event_id limit least($4::integer, ${MAX_BATCH_EVENTS})
    ), measured as (
      select *, row_number() over running as position, sum(payload_bytes::bigint) over running as total_bytes,
        first_value(replayed_number) over running as first_replayed,
        first_value(replayed_batch_at) over running as first_batch_at,
        first_value(replayed_origin) over running as first_origin
      from oldest window running as (order by event_id)
    ), chosen as (
      select event_id, position = 1 or total_bytes <= ${MAX_BATCH_BYTES} as fits,
        bool_and(replayed_number is not distinct from first_replayed + position - 1
          and replayed_batch_at is not distinct from first_batch_at
          and replayed_origin is not distinct from first_origin) over (order by event_id) as is_run
      from measured
    ), taken as (
      delete from outbox_event
      where destination_key = $1 and event_id = any(array(select event_id from chosen where fits and is_run))
      returning *
    ), opened as (
      insert into open_batch (destination_key, epoch, first_number, created_at, is_replay, presentation,
        low_water_mark, origin, ${ARRAYS})
      select owner.destination_key, $2, coalesce(batch.first_replayed, owner.next_event_number),
        coalesce(batch.batch_at, clock_timestamp()), batch.first_replayed is not null, owner.presentation,
        least(event_ids[1] - 1, (select decided_event_id from outbox_mark)),
        case when batch.first_replayed is null then jsonb_build_object('baseUrl', $5::text, 'generation', ${GENERATION_IN_FORCE}) else batch.origin end, ${ARRAYS}
      from owner, (
        select min(replayed_number) as first_replayed, min(replayed_batch_at) as batch_at,
          (array_agg(replayed_origin))[1] as origin, ${Object.entries(EVENT_COLUMNS)
            .map(([array, column]) => `array_agg(${column}) as ${array}`)
            .join(', ')}
        from (select * from taken order by event_id) in_order
      ) batch
      where batch.event_ids is not null
      returning *
    ), released as (
      update destination_runtime set owner_slot = null, lease_until = null
      where destination_key in (select destination_key from owner)
        and not exists (select from opened) and not exists (select from present)
    )
    select first_number, created_at, presentation, origin, versions, resource_types, resource_ids, interactions, methods,
      undecided, correlation_ids
    from (select * from opened union all select * from present) batch`,
};

/**
 * SQL of the events of the open batch, for the statement of a renderer. It yields type, id, version and position. Its
 * first three values are those of {@link OPEN_BATCH}. When the claim is no longer in force it yields nothing, since the
 * open batch may then be a different one.
 */
export const OPEN_EVENTS = `(select e.* from open_batch b
    cross join lateral unnest(b.resource_types, b.resource_ids, b.versions) with ordinality e(type, id, version, position)
    where ${IS_CLAIMED})`;

/** Buckets of `svc_topic_destination_delivery_seconds`. Their counts are stored, so a change needs a migration. */
export const LATENCY_BOUNDS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600];

/** Counts the latency of each event: from the change that caused it (just before its commit) to the settling. */
const COUNT_LATENCIES = `(latency_counts, latency_seconds) = (
    select array[${LATENCY_BOUNDS_SECONDS.map(
      (bound, index) => `coalesce(r.latency_counts[${index + 1}], 0) + count(*) filter (where age <= ${bound})`,
    ).join(', ')}], r.latency_seconds + sum(age)
    from (select greatest(extract(epoch from statement_timestamp() - recorded_at)::double precision, 0) as age
      from unnest(b.recorded_at) recorded_at offset 0) ages)`;

/**
 * Settles a delivered batch: counts and logs the delivery, and removes the batch. Returns one row, or no row if the
 * claim was lost. If $6 is true, the worker keeps the lease, under the next epoch.
 */
export const SETTLE: Statement = {
  name: 'delivery-settle',
  text: `with settled as (
      update destination_runtime r set fail_streak = 0, next_attempt_at = clock_timestamp(), epoch = r.epoch + 1,
        owner_slot = case when $6::boolean then r.owner_slot end, lease_until = case when $6::boolean then ${LEASE} end,
        settled_epoch = r.epoch, low_water_mark = greatest(r.low_water_mark, b.low_water_mark),
        next_event_number = r.next_event_number + case when b.is_replay then 0 else cardinality(b.event_ids) end,
        delivered_batches = r.delivered_batches + 1, delivered_events = r.delivered_events + cardinality(b.event_ids),
        ${countInHour({ delivered: 'cardinality(b.event_ids)', failed: '0' })},
        ${COUNT_LATENCIES}
      from open_batch b
      where ${IS_CLAIMED} and r.destination_key = $1 and r.epoch = $2 and r.owner_slot = $3
      returning r.destination_key, b.epoch
    ), closed as (
      delete from open_batch where destination_key = $1 and epoch = (select epoch from settled) returning *
    ), logged as (
      ${logged('closed', { duration: '$4::integer', isDelivered: true, outcome: '$5::text' })}
    )
    select destination_key from settled`,
};

/** Counts and logs many failed attempts. Returns one row for each, except for claims that were lost. */
export const FAIL: Statement = {
  name: 'delivery-fail',
  text: `with failed as (
      update destination_runtime r set owner_slot = null, lease_until = null, fail_streak = r.fail_streak + 1,
        next_attempt_at = clock_timestamp() + make_interval(secs => pause / 1000), ${countFailure('outcome')}
      from unnest($1::bigint[], $2::bigint[], $3::integer[], $4::integer[], $5::text[], $6::double precision[])
          f(key, epoch, slot, duration, outcome, pause)
        join open_batch b on b.destination_key = f.key
      where ${IS_OPEN} and r.destination_key = f.key and r.epoch = f.epoch and r.owner_slot = f.slot
      returning b.destination_key, b.first_number, b.created_at, b.event_ids, b.is_replay, duration, outcome
    ), logged as (
      ${logged('failed', { duration: 'duration', isDelivered: false, outcome: 'outcome' })}
    )
    select destination_key from failed`,
};

/** Reads the claims that a worker ($1 slot) still holds. Its attempts for other destinations have lost their claims. */
export const READ_CLAIMS: Statement = {
  name: 'delivery-read-claims',
  text: `select destination_key, epoch from destination_runtime where owner_slot = $1`,
};

const SWEPT_AT_ONCE = 1000;

/**
 * Deletes events of the first destination that no longer exists, after the event $2 of the destination $1. It returns
 * the key of the last event, or no row if all later events have destinations. It jumps from destination to destination
 * in the index, so the long queues of existing destinations cost nothing.
 */
export const SWEEP: Statement = {
  name: 'delivery-sweep',
  text: `with recursive queued as (
      (select destination_key from outbox_event where (destination_key, event_id) > ($1::bigint, $2::bigint)
        order by destination_key, event_id limit 1)
      union all
      select (select min(e.destination_key) from outbox_event e where e.destination_key > queued.destination_key)
      from queued where queued.destination_key is not null
    ), gone as (
      select destination_key from queued where destination_key is not null and (
        select r.destination_key from destination_runtime r where r.destination_key = queued.destination_key) is null
      limit 1
    ), chosen as (
      select event_id from outbox_event
      where destination_key = (select destination_key from gone) and (destination_key, event_id) > ($1, $2)
      order by event_id limit ${SWEPT_AT_ONCE}
    ), swept as (
      delete from outbox_event
      where destination_key = (select destination_key from gone) and event_id = any(array(select event_id from chosen))
    ) select destination_key as key, coalesce((select max(event_id) from chosen), ${Number.MAX_SAFE_INTEGER}) as event from gone`,
};

/** Creates and drops daily partitions, as the migration "create delivery" describes. $1: days to keep. */
export const KEEP_DAYS: Statement = {
  name: 'delivery-keep-days',
  text: 'select keep_delivery_days($1::integer) as stray_rows',
};
