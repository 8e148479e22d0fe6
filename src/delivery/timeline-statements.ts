import { type Statement } from '../platform/database/statement';
import { ARRAYS, EVENT_COLUMNS, MAX_BATCH_EVENTS } from './batch-row';

/** SQL of the timeline. Times are those of the latest state: delivered, else batched, else recorded. */

/** The latest attempts shown for a batch; a dead endpoint adds one each minute. */
export const SHOWN_ATTEMPTS = 20;

const WITHIN = (time: string): string =>
  `${time} >= coalesce($3::timestamptz, '-infinity') and ${time} <= coalesce($4::timestamptz, 'infinity')`;

const EVENTS_OF_BATCH = `unnest(${ARRAYS}) with ordinality event (${Object.values(EVENT_COLUMNS).join(', ')}, place)`;

/** The columns of a TimelineEvent that describe the change. */
const SHOWN = `version, resource_type as type, resource_id as id, interaction, is_undecided as "isUndecided",
      correlation_id as "correlationId"`;

/** Newest first. $1 destination, $2 below this event, $3 to $4 time, $5 to $6 numbers, $7 limit. */
export const READ_QUEUED: Statement = {
  name: 'timeline-read-queued',
  text: `select event_id as "eventId", replayed_number as number, 'queued' as state, ${SHOWN},
      recorded_at as "recordedAt", null as "batchedAt", null as "deliveredAt"
    from outbox_event
    where destination_key = $1 and event_id < coalesce($2::bigint, ${Number.MAX_SAFE_INTEGER}) and ${WITHIN('recorded_at')}
      and (($5::bigint is null and $6::bigint is null)
        or replayed_number between coalesce($5, 1) and coalesce($6, ${Number.MAX_SAFE_INTEGER}))
    order by event_id desc limit $7`,
};

/**
 * Numbered events, the largest number first: of the open batch if $8, of delivered ones if $9. $1 destination, $2 below
 * this number, $3 to $4 time, $5 to $6 numbers, $7 limit. Only batches with an event to show are read.
 */
export const READ_NUMBERED: Statement = {
  name: 'timeline-read-numbered',
  text: `with batches as (
      select * from (
        select first_number, cardinality(event_ids) as event_count, created_at as opened_at, null::timestamptz as ended_at, ${ARRAYS}
        from open_batch where destination_key = $1 and not is_replay and $8::boolean and ${WITHIN('created_at')}
        union all
        select first_number, event_count, opened_at, ended_at, ${ARRAYS}
        from delivery_attempt
        where destination_key = $1 and is_delivered and not is_replay and $9::boolean and ${WITHIN('ended_at')}
      ) batch
      where first_number < coalesce($2::bigint, ${Number.MAX_SAFE_INTEGER})
        and first_number <= coalesce($6::bigint, ${Number.MAX_SAFE_INTEGER}) and first_number + event_count > coalesce($5::bigint, 1)
      order by first_number desc limit $7
    )
    select first_number + place - 1 as number, case when ended_at is null then 'in-process' else 'delivered' end as state, ${SHOWN},
      event.recorded_at as "recordedAt", opened_at as "batchedAt", ended_at as "deliveredAt"
    from batches, ${EVENTS_OF_BATCH}
    where first_number + place - 1 < coalesce($2, ${Number.MAX_SAFE_INTEGER})
      and first_number + place - 1 between coalesce($5, 1) and coalesce($6, ${Number.MAX_SAFE_INTEGER})
    order by number desc limit $7`,
};

const OF_NUMBER = `destination_key = $1 and first_number <= coalesce($2::bigint, ${Number.MAX_SAFE_INTEGER})
        and first_number > coalesce($2::bigint - ${MAX_BATCH_EVENTS}, 0)`;

/** The batch that holds the event of number $2, by default the latest: the one under way, else the one delivered. */
export const READ_BATCH_OF_NUMBER: Statement = {
  name: 'timeline-read-batch-of-number',
  text: `select * from (
      select first_number, created_at, origin, presentation, ${ARRAYS} from open_batch
      where ${OF_NUMBER} and not is_replay and first_number + cardinality(event_ids) > coalesce($2, 0)
      union all
      select first_number, opened_at, origin, null, ${ARRAYS} from delivery_attempt
      where ${OF_NUMBER} and is_delivered and not is_replay and first_number + event_count > coalesce($2, 0)
    ) batch order by first_number desc limit 1`,
};

/** The latest attempts on batches with a number from $2 to $3, in order, and their total number. */
export const READ_ATTEMPTS: Statement = {
  name: 'timeline-read-attempts',
  text: `select * from (
      select first_number as "firstNumber", event_count as "eventCount", ended_at as "endedAt",
        duration_milliseconds as "durationMilliseconds", is_delivered as "isDelivered", is_replay as "isReplay", outcome,
        row_number() over (partition by first_number, event_count, is_replay order by ended_at desc) as place,
        count(*) over (partition by first_number, event_count, is_replay) as total
      from delivery_attempt
      where destination_key = $1 and first_number <= $3::bigint and first_number > $2::bigint - ${MAX_BATCH_EVENTS}
        and first_number + event_count > $2::bigint
    ) attempt where place <= ${SHOWN_ATTEMPTS} order by "endedAt"`,
};

const DELIVERED = `from delivery_attempt
  where destination_key = $1 and is_delivered and not is_replay and ${WITHIN('ended_at')}
    and first_number <= coalesce($6::bigint, ${Number.MAX_SAFE_INTEGER}) and first_number + event_count > coalesce($5::bigint, 1)`;

const IN_RANGE = `first_number + place - 1 between coalesce($5, 1) and coalesce($6, ${Number.MAX_SAFE_INTEGER})`;

/**
 * Number of delivered events, and the first and the last number; of more than $2 events also the number of the last of
 * the first $2. $3 to $4 time, $5 to $6 numbers.
 */
export const COUNT_DELIVERED: Statement = {
  name: 'timeline-count-delivered',
  text: `select count(*) as events, min(number) as "from", max(number) as "to",
      case when count(*) > $2::integer then (array_agg(number order by number))[$2::integer] end as "limitedTo"
    from (select first_number + place - 1 as number from (select * ${DELIVERED}) batch, ${EVENTS_OF_BATCH} where ${IN_RANGE}) numbered`,
};

/** Queues delivered events again, with their numbers and batches. Parameters as in the count. */
export const QUEUE_AGAIN: Statement = {
  name: 'timeline-queue-again',
  text: `insert into outbox_event
      (destination_key, replayed_number, replayed_batch_at, replayed_origin, payload_bytes, version, resource_type, resource_id, interaction,
        method, is_undecided, correlation_id)
    select destination_key, first_number + place - 1, opened_at, origin, event.payload_bytes, version, resource_type, resource_id, interaction, method,
      is_undecided, correlation_id
    from (select * ${DELIVERED}) batch, ${EVENTS_OF_BATCH}
    where ${IN_RANGE} order by first_number + place - 1 limit $2`,
};

/** Delivered batches with events in the range, in order. Parameters as in the count; $2 limits the batches. */
export const READ_DELIVERED: Statement = {
  name: 'timeline-read-delivered',
  text: `select first_number, opened_at as created_at, origin, versions, resource_types, resource_ids, interactions, methods, undecided, correlation_ids ${DELIVERED}
    order by first_number limit $2`,
};
