import { type Statement } from '../platform/database/statement';
import { HOUR, IS_OPEN, WAITING } from './delivery-statements';

/** The SQL of delivery that runs rarely: changes of destinations, and reads of their state. */

export const FIND: Statement = {
  name: 'delivery-find-destination',
  text: `select destination_key as "destinationKey", destination_id as "destinationId", kind, presentation,
      attempt_log_level as "attemptLogLevel", sealed_settings as "sealedSettings",
      next_event_number as "nextEventNumber", owner_slot as "ownerSlot"
    from destination_runtime where destination_id = $1`,
};

/** Finds a destination and locks its row until the transaction ends, so that no worker claims or settles it. */
export const LOCK: Statement = { name: 'delivery-lock-destination', text: `${FIND.text} for update` };

export const LIST: Statement = {
  name: 'delivery-list-destinations',
  text: 'select destination_key as "destinationKey", presentation from destination_runtime',
};

/** The newest destinations: as many as a start can check in an instant. */
export const FIND_NEWEST: Statement = {
  name: 'delivery-find-newest-destinations',
  text: `select destination_id as "destinationId", sealed_settings as "sealedSettings" from destination_runtime
    order by destination_key desc limit 1000`,
};

/**
 * Creates or changes a destination. A change takes the destination from its lease holder and makes it due at once. It
 * also raises the epoch, so that the results of attempts under an earlier epoch are discarded.
 */
export const STORE: Statement = {
  name: 'delivery-store-destination',
  text: `insert into destination_runtime as r (destination_id, kind, presentation, attempt_log_level, sealed_settings,
      max_messages_in_batch, timeout_seconds)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (destination_id) do update set kind = $2, presentation = $3, attempt_log_level = $4, sealed_settings = $5,
      max_messages_in_batch = $6, timeout_seconds = $7, epoch = r.epoch + 1, owner_slot = null, lease_until = null,
      fail_streak = 0, next_attempt_at = clock_timestamp(), started_at = clock_timestamp()`,
};

/** Makes a destination due if it pauses after a failure. During an attempt there is no pause to end. */
export const END_PAUSE: Statement = {
  name: 'delivery-end-pause',
  text: `update destination_runtime set next_attempt_at = clock_timestamp()
    where destination_key = $1 and owner_slot is null and next_attempt_at > clock_timestamp()
    returning destination_key`,
};

/**
 * Deletes a destination with its batch. The order of the deletions does not matter: the row of the destination is
 * locked, and workers lock that row before they change the batch. Events in the queue are no longer sent: a destination
 * with the same id gets another key.
 */
export const REMOVE: Statement = {
  name: 'delivery-remove-destination',
  text: `with runtime as (delete from destination_runtime where destination_key = $1)
    delete from open_batch where destination_key = $1`,
};

const STATE = `case when (select is_held from delivery_generation) then 'held' when fail_streak > 0 then 'failing'
      else 'active' end`;

/**
 * Reads the status of at most $2 destinations in the state $3 (null: any), in the order of ids, from the id $1 on. All
 * values come from one snapshot, so delivered, in-process and queued events add up to the recorded events. At most $4
 * queued events of a destination are counted (null: all). The count uses the index of the queue: a plan that was made
 * for an empty queue would read or sort a long queue.
 */
export const READ_STATUS: Statement = {
  name: 'delivery-read-status',
  text: `select r.destination_id as id, r.kind, r.presentation, ${STATE} as state, r.started_at as "startedAt",
      r.fail_streak as "failStreak", r.next_attempt_at as "nextAttemptAt", r.last_errors as "lastErrors",
      r.delivered_batches as "deliveredBatches", r.failed_batches as "failedBatches",
      r.delivered_events as "deliveredEvents", r.failed_events as "failedEvents",
      coalesce(cardinality(b.event_ids), 0) as "eventsInProcess",
      (select count(*) from (select from outbox_event e where ${WAITING} order by e.event_id limit $4::integer) counted)
        as "eventsQueued",
      extract(epoch from clock_timestamp() - oldest.recorded_at)::double precision as "oldestAge",
      (select jsonb_agg(jsonb_build_array(r.hour_numbers[e], r.hour_delivered[e], r.hour_failed[e]) order by r.hour_numbers[e])
        from generate_subscripts(r.hour_numbers, 1) e where r.hour_numbers[e] > ${HOUR} - 24) as hours,
      r.latency_seconds as "latencySeconds", r.latency_counts::double precision[] as "latencyCounts"
    from (
        select * from destination_runtime
        where destination_id >= $1 and ($3::text is null or ${STATE} = $3) order by destination_id limit $2
      ) r
      left join open_batch b on ${IS_OPEN}
      cross join lateral (select least(b.recorded_at[1], (
        select e.recorded_at from outbox_event e where ${WAITING} order by e.event_id limit 1)) as recorded_at) oldest
    order by r.destination_id`,
};

export const COUNT: Statement = {
  name: 'delivery-count-destinations',
  text: 'select count(*) as destinations from destination_runtime',
};
