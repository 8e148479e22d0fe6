import { type Statement } from '../platform/database/statement';

/** Cold paths of the delivery tables: statements for changes of a destination. */

export const FIND: Statement = {
  name: 'delivery-find-destination',
  text: `select destination_key as "destinationKey", destination_id as "destinationId", kind, presentation,
      attempt_log_level as "attemptLogLevel", sealed_settings as "sealedSettings",
      next_event_number as "nextEventNumber", owner_slot as "ownerSlot"
    from destination_runtime where destination_id = $1`,
};

/** Locks the row until the transaction ends: no worker claims or settles meanwhile. */
export const LOCK: Statement = { name: 'delivery-lock-destination', text: `${FIND.text} for update` };

export const LIST: Statement = {
  name: 'delivery-list-destinations',
  text: 'select destination_key as "destinationKey", presentation from destination_runtime',
};

/**
 * Creates the destination, or takes it from its lease holder and makes it due at once, under its new configuration. A
 * change raises the epoch: results of attempts under an earlier one are discarded.
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

/** Makes a destination due that pauses after a failure; one with an attempt under way has no pause. */
export const END_PAUSE: Statement = {
  name: 'delivery-end-pause',
  text: `update destination_runtime set next_attempt_at = clock_timestamp()
    where destination_key = $1 and owner_slot is null and next_attempt_at > clock_timestamp()
    returning destination_key`,
};

/** The row is locked, so the order does not matter: workers lock it before they change the other two tables. */
export const REMOVE: Statement = {
  name: 'delivery-remove-destination',
  text: `with runtime as (delete from destination_runtime where destination_key = $1),
      batch as (delete from open_batch where destination_key = $1)
    delete from outbox_event where destination_key = $1`,
};
