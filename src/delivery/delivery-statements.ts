import { type Statement } from '../platform/database/statement';

/**
 * All SQL of the delivery tables but for the cold paths (`destination-runtimes.repository.ts`). The database's clock
 * alone counts.
 */

/**
 * First key of the advisory locks that living workers hold; the second is their slot. Any number that no other lock
 * uses.
 */
const WORKER_LOCK_CLASS = 4_713_591;

/**
 * What an attempt may last beyond the destination's timeout before others take the batch over: rendering and settling.
 */
export const LEASE_GRACE_SECONDS = 15;

/** The stored resources of one batch; a batch holds at least one event whatever its size. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/** The most events of one batch, whatever the destination asks for: they are in memory at once. */
const MAX_BATCH_EVENTS = 10_000;

/** How many errors `$status` tells (interface, "Status result of the destination"). */
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
 * For the transaction: read in the order of the index. A queue is empty when its plans are made, and a plan that was made
 * for an empty table would sort a long queue for each batch, until statistics are next gathered.
 */
export const PLAN_FOR_LONG_QUEUES: Statement = {
  name: 'delivery-plan-for-long-queues',
  text: `select set_config('enable_sort', 'off', true)`,
};

/**
 * Takes the destination that waits longest. Eligible is what has something to send, is due, and has no living owner:
 * state decides, not a cursor, since events commit in another order than they are numbered.
 * A worker whose own lock is gone claims nothing, for it may hear of its loss late: who can take the lock proves that
 * nobody holds it.
 */
export const CLAIM: Statement = {
  name: 'delivery-claim',
  text: `with claimer as materialized (
      select not pg_try_advisory_xact_lock(${WORKER_LOCK_CLASS}, $1) as is_alive
    ), due as (
      select r.destination_key, r.owner_slot is not null as is_orphaned from destination_runtime r
      where (select is_alive from claimer) and r.next_attempt_at <= clock_timestamp()
        and (r.owner_slot is null or r.lease_until < clock_timestamp() or r.owner_slot not in (${LIVING_SLOTS}))
        and (exists (select from open_batch b where b.destination_key = r.destination_key)
          or (select e.event_id from outbox_event e where e.destination_key = r.destination_key
              order by e.event_id limit 1) is not null)
      order by r.next_attempt_at limit 1 for update of r skip locked
    )
    update destination_runtime r set epoch = r.epoch + 1, owner_slot = $1,
      lease_until = clock_timestamp() + make_interval(secs => r.timeout_seconds + ${LEASE_GRACE_SECONDS})
    from due where r.destination_key = due.destination_key
    returning r.destination_key, r.destination_id, r.kind, r.sealed_settings, r.epoch, r.timeout_seconds,
      r.max_messages_in_batch, r.fail_streak, due.is_orphaned`,
};

const withError = (column: string, message: string): string =>
  `jsonb_path_query_array(
     jsonb_build_array(jsonb_build_object('message', ${message}::text, 'timestamp', clock_timestamp())) || ${column},
     '$[0 to ${MAX_LAST_ERRORS - 1}]')`;

/** An attempt whose outcome nobody will tell counts as failed, so that totals are exact under a stated rule. */
export const COUNT_UNKNOWN_OUTCOME: Statement = {
  name: 'delivery-count-unknown-outcome',
  text: `update destination_runtime r set failed_batches = r.failed_batches + 1,
      failed_events = r.failed_events + cardinality(b.event_ids), last_errors = ${withError('r.last_errors', '$2')}
    from open_batch b where b.destination_key = r.destination_key and r.destination_key = $1`,
};

/**
 * The open batch of a claimed destination, else a new one of the oldest events. A statement of its own: it must begin
 * after the claim holds the row, or it would see a batch that was settled in between.
 */
export const OPEN_BATCH: Statement = {
  name: 'delivery-open-batch',
  text: `with oldest as (
      select event_id, payload_bytes from outbox_event where destination_key = $1
      order by event_id limit least($2::integer, ${MAX_BATCH_EVENTS})
    ), measured as (
      select event_id, row_number() over (order by event_id) as position,
        sum(payload_bytes::bigint) over (order by event_id) as total_bytes
      from oldest
    ), opened as (
      insert into open_batch (destination_key, first_number, event_ids, presentation)
      select r.destination_key, r.next_event_number, taken.event_ids, r.presentation
      from destination_runtime r, (
        select array_agg(event_id order by event_id) as event_ids from measured
        where position = 1 or total_bytes <= ${MAX_BATCH_BYTES}
      ) taken
      where r.destination_key = $1 and taken.event_ids is not null
      on conflict (destination_key) do nothing
      returning first_number, created_at, event_ids, presentation
    )
    select first_number, created_at, event_ids, presentation from opened
    union all
    select first_number, created_at, event_ids, presentation from open_batch where destination_key = $1`,
};

export const READ_EVENTS: Statement = {
  name: 'delivery-read-events',
  text: `select resource_type, resource_id, version, interaction, method from outbox_event
    where destination_key = $1 and event_id = any($2::bigint[]) order by event_id`,
};

/** Gives a claimed destination back that had nothing to send after all. */
export const RELEASE: Statement = {
  name: 'delivery-release',
  text: `update destination_runtime set owner_slot = null, lease_until = null
    where destination_key = $1 and epoch = $2`,
};

/** Counts and removes in one statement; one row when it took effect, none when the claim is no longer in force. */
export const SETTLE: Statement = {
  name: 'delivery-settle',
  text: `with settled as (
      update destination_runtime set owner_slot = null, lease_until = null, fail_streak = 0,
        next_attempt_at = clock_timestamp(),
        next_event_number = next_event_number + cardinality($4::bigint[]),
        delivered_batches = delivered_batches + 1, delivered_events = delivered_events + cardinality($4::bigint[])
      where destination_key = $1 and epoch = $2 and owner_slot = $3
      returning destination_key
    ), closed as (
      delete from open_batch where destination_key = $1 and exists (select from settled)
    ), delivered as (
      delete from outbox_event
      where destination_key = $1 and event_id = any($4::bigint[]) and exists (select from settled)
    )
    select destination_key from settled`,
};

/** One row when it took effect, none when the claim is no longer in force. */
export const FAIL: Statement = {
  name: 'delivery-fail',
  text: `update destination_runtime set owner_slot = null, lease_until = null, fail_streak = fail_streak + 1,
      next_attempt_at = clock_timestamp() + make_interval(secs => $5::double precision / 1000),
      failed_batches = failed_batches + 1, failed_events = failed_events + $4::integer,
      last_errors = ${withError('last_errors', '$6')}
    where destination_key = $1 and epoch = $2 and owner_slot = $3
    returning destination_key`,
};

/** Claims of a worker that are in force; what it sends beside these was taken from it. */
export const READ_CLAIMS: Statement = {
  name: 'delivery-read-claims',
  text: `select destination_key, epoch from destination_runtime where owner_slot = $1`,
};

/** Events in the order given: of one resource a later version gets the larger number. */
export const APPEND: Statement = {
  name: 'delivery-append',
  text: `insert into outbox_event
      (destination_key, resource_type, resource_id, version, interaction, method, payload_bytes)
    select destination_key, resource_type, resource_id, version, interaction, method, payload_bytes
    from unnest($1::bigint[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::integer[])
      with ordinality event
        (destination_key, resource_type, resource_id, version, interaction, method, payload_bytes, position)
    order by position`,
};

/**
 * Removes events of deleted destinations: of writes that were under way while the destination went. Hops from key to
 * key along the index, so that a long queue costs nothing.
 */
export const SWEEP: Statement = {
  name: 'delivery-sweep',
  text: `with recursive queued as (
      select min(destination_key) as destination_key from outbox_event
      union all
      select (select min(e.destination_key) from outbox_event e where e.destination_key > queued.destination_key)
      from queued where queued.destination_key is not null
    ), gone as (
      select destination_key from queued
      where destination_key is not null and destination_key not in (select destination_key from destination_runtime)
    )
    delete from outbox_event where destination_key in (select destination_key from gone)`,
};

/** One snapshot: delivered, in process and queued always add up to what was recorded. */
export const STATUS: Statement = {
  name: 'delivery-status',
  text: `select r.delivered_batches, r.failed_batches, r.delivered_events, r.failed_events,
      coalesce(cardinality(b.event_ids), 0) as in_process,
      (select count(*) from outbox_event e where e.destination_key = r.destination_key)
        - coalesce(cardinality(b.event_ids), 0) as queued,
      r.started_at, r.last_errors
    from destination_runtime r left join open_batch b on b.destination_key = r.destination_key
    where r.destination_id = $1`,
};
