import { type Statement } from '../platform/database/statement';
import { ARRAYS, EVENT_COLUMNS, MAX_BATCH_EVENTS } from './batch-row';

/**
 * The SQL of the timeline. The time of an event is that of its latest state: delivered, else batched, else recorded.
 * Parameters, in the order of `rangeValues`: $1 destination, $2 limit, $3 and $4 the range of times, $5 and $6 the
 * range of event numbers. $7 is described at each statement.
 */

/** How many of the latest attempts of a batch are shown. An endpoint that does not work adds one each minute. */
export const SHOWN_ATTEMPTS = 20;

export const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

const isWithin = (time: string): string =>
  `${time} >= coalesce($3::timestamptz, '-infinity') and ${time} <= coalesce($4::timestamptz, 'infinity')`;

const isNumbered = (number: string): string =>
  `${number} between coalesce($5::bigint, 1) and coalesce($6::bigint, ${MAX_NUMBER})`;

/** Condition for batches with an event in the range, without replays. Two bounds of `first_number` limit the scan. */
const isInRange = (columns: { readonly count: string; readonly time: string }): string =>
  `destination_key = $1 and not is_replay and ${isWithin(columns.time)}
        and first_number <= coalesce($6::bigint, ${MAX_NUMBER}) and first_number > coalesce($5::bigint - ${MAX_BATCH_EVENTS}, 0)
        and first_number + ${columns.count} > coalesce($5::bigint, 1)`;

const OPEN = `select destination_key, first_number, created_at, null::timestamptz as ended_at, origin, presentation, ${ARRAYS}
      from open_batch where ${isInRange({ count: 'cardinality(event_ids)', time: 'created_at' })}`;

const DELIVERED = `select destination_key, first_number, opened_at as created_at, ended_at, origin, null as presentation, ${ARRAYS}
      from delivery_attempt where is_delivered and ${isInRange({ count: 'event_count', time: 'ended_at' })}`;

const NUMBER = 'first_number + place - 1';

/** SQL of the events in batches of {@link OPEN} or {@link DELIVERED}. */
const eventsIn = (batches: string): string =>
  `${batches} batch, unnest(${ARRAYS}) with ordinality event (${Object.values(EVENT_COLUMNS).join(', ')}, place)
    where ${isNumbered(NUMBER)}`;

const SHOWN = `version, resource_type as type, resource_id as id, interaction, is_undecided as "isUndecided",
      correlation_id as "correlationId"`;

/** Reads queued events, newest first, below the event id $7. */
export const READ_QUEUED: Statement = {
  name: 'timeline-read-queued',
  text: `select event_id as "eventId", replayed_number as number, 'queued' as state, ${SHOWN},
      recorded_at as "recordedAt", null as "batchedAt", null as "deliveredAt"
    from outbox_event
    where destination_key = $1 and event_id < coalesce($7::bigint, ${MAX_NUMBER}) and ${isWithin('recorded_at')}
      and (($5::bigint is null and $6::bigint is null) or ${isNumbered('replayed_number')})
    order by event_id desc limit $2`,
};

/** Reads batches, latest first: the open batch if $7 is true, delivered batches if it is false, both if it is null. */
export const READ_LATEST: Statement = {
  name: 'timeline-read-latest',
  text: `select * from (${OPEN} union all ${DELIVERED}) batch
      where $7::boolean is null or (ended_at is null) = $7 order by first_number desc limit $2`,
};

/** Reads the events in the batches of {@link READ_LATEST}, the largest number first. */
export const READ_NUMBERED: Statement = {
  name: 'timeline-read-numbered',
  text: `select ${NUMBER} as number, case when ended_at is null then 'in-process' else 'delivered' end as state, ${SHOWN},
      event.recorded_at as "recordedAt", created_at as "batchedAt", ended_at as "deliveredAt"
    from ${eventsIn(`(${READ_LATEST.text})`)}
    order by number desc limit $2`,
};

/** Reads the latest attempts on the batches with the event numbers $2 to $3, in order, and how many each batch has. */
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

export const READ_DELIVERED: Statement = {
  name: 'timeline-read-delivered',
  text: `${DELIVERED} order by first_number limit $2`,
};

/** Counts the delivered events of a range, with the first and the last number, and the $2-th if there are more. */
export const COUNT_DELIVERED: Statement = {
  name: 'timeline-count-delivered',
  text: `select count(*) as events, min(number) as "from", max(number) as "to",
      case when count(*) > $2::integer then (array_agg(number order by number))[$2::integer] end as "limitedTo"
    from (select ${NUMBER} as number from ${eventsIn(`(${DELIVERED})`)}) numbered`,
};

/** Queues delivered events of a range again. They keep their numbers and the data of their batch. */
export const QUEUE_AGAIN: Statement = {
  name: 'timeline-queue-again',
  text: `insert into outbox_event (destination_key, replayed_number, replayed_batch_at, replayed_origin, payload_bytes,
      version, resource_type, resource_id, interaction, method, is_undecided, correlation_id)
    select destination_key, ${NUMBER}, created_at, origin, event.payload_bytes,
      version, resource_type, resource_id, interaction, method, is_undecided, correlation_id
    from ${eventsIn(`(${DELIVERED})`)}
    order by ${NUMBER} limit $2`,
};
