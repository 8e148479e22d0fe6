import { KEEP_DAYS_LOCK } from '../advisory-locks';
import { type Migration } from '../migration';

/**
 * The delivery state of each destination. A destination that is deleted and created again gets a new key, so it never
 * receives events of the old destination.
 */
const createDestinationRuntime = `
    create table destination_runtime (
      destination_key bigint generated always as identity constraint destination_runtime_pk primary key,
      epoch bigint not null default 0,
      lease_until timestamptz,
      next_attempt_at timestamptz not null default clock_timestamp(),
      started_at timestamptz not null default clock_timestamp(),
      next_event_number bigint not null default 1,
      floor_event_id bigint not null default 0,
      delivered_batches bigint not null default 0,
      delivered_events bigint not null default 0,
      failed_batches bigint not null default 0,
      failed_events bigint not null default 0,
      latency_seconds double precision not null default 0,
      owner_slot integer,
      fail_streak integer not null default 0,
      max_messages_in_batch integer not null,
      timeout_seconds integer not null,
      is_suspect boolean not null default true,
      destination_id text not null constraint destination_runtime_id_key unique,
      kind text not null,
      attempt_log_level text,
      presentation text not null,
      sealed_settings bytea not null,
      last_errors jsonb not null default '[]',
      latency_counts bigint[] not null default '{}'
    ) with (fillfactor = 50)`;

/**
 * The events that wait for delivery. A row is inserted once, deleted once, and never updated. Connections must not
 * cache numbers of the sequence: a later version of a resource must get a larger number, whichever connection writes
 * it.
 */
const createOutboxEvent = `
    create table outbox_event (
      event_id bigint generated always as identity (cache 1),
      destination_key bigint not null,
      recorded_at timestamptz not null default clock_timestamp(),
      replayed_number bigint,
      replayed_batch_at timestamptz,
      payload_bytes integer not null,
      version integer not null,
      is_undecided boolean not null default false,
      resource_type text not null,
      resource_id text not null,
      interaction text not null,
      method text not null,
      correlation_id text,
      constraint outbox_event_pk primary key (destination_key, event_id)
    ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05)`;

/**
 * The columns of the events of a batch. They are parallel arrays: the first element of each belongs to the first event.
 */
const EVENT_COLUMNS = [
  'event_ids bigint[]',
  'recorded_at timestamptz[]',
  'payload_bytes integer[]',
  'versions integer[]',
  'resource_types text[]',
  'resource_ids text[]',
  'interactions text[]',
  'methods text[]',
  'undecided boolean[]',
  'correlation_ids text[]',
];

/**
 * The batch that a destination is being sent; there is at most one. Its events have moved here from the queue, and each
 * retry sends the events of this row again.
 */
const createOpenBatch = [
  `
    create table open_batch (
      destination_key bigint constraint open_batch_pk primary key,
      first_number bigint not null,
      created_at timestamptz not null default clock_timestamp(),
      is_replay boolean not null,
      presentation text not null,
      ${EVENT_COLUMNS.map((column) => `${column} not null`).join(', ')}
    ) with (fillfactor = 50)`,
];

/**
 * The delivery attempts, one row each. The row of a successful attempt keeps the events. The table is partitioned by
 * day, and old partitions are dropped (`src/delivery/delivery-housekeeping.ts`). A row that fits no other partition
 * goes into the default partition, so that storing the result of an attempt never fails for that reason.
 */
const createDeliveryAttempt = [
  `
    create table delivery_attempt (
      destination_key bigint not null,
      first_number bigint not null,
      ended_at timestamptz not null default clock_timestamp(),
      opened_at timestamptz not null,
      event_count integer not null,
      duration_milliseconds integer,
      is_delivered boolean not null,
      is_replay boolean not null,
      outcome text not null,
      ${EVENT_COLUMNS.join(', ')}
    ) partition by range (ended_at)`,
  'create index delivery_attempt_number_idx on delivery_attempt (destination_key, first_number)',
  'create table delivery_attempt_other partition of delivery_attempt default',
];

/**
 * Creates the partitions of today and of the next seven days (UTC), and drops those that ended more than
 * `retention_days` ago. It waits only 2 s for a lock, since the storing of results would wait behind it. The next call
 * does the work that this call could not do. Returns the number of rows that remain in the default partition.
 */
const createKeepDeliveryDays = `
    create function keep_delivery_days(retention_days integer) returns bigint language plpgsql set lock_timeout = '2s' as $$
    declare
      today date := (clock_timestamp() at time zone 'UTC')::date;
      partition_name text;
    begin
      if pg_try_advisory_xact_lock(${KEEP_DAYS_LOCK}) then
        for ahead in 0..7 loop
          partition_name := 'delivery_attempt_' || to_char(today + ahead, 'YYYYMMDD');
          continue when to_regclass(partition_name) is not null;
          begin
            execute format('create table %I (like delivery_attempt including all)', partition_name);
            execute format('alter table delivery_attempt attach partition %I for values from (%L) to (%L)',
              partition_name, (today + ahead) || 'T00:00Z', (today + ahead + 1) || 'T00:00Z');
          exception when check_violation or lock_not_available then
            raise warning 'partition % has to wait: %', partition_name, sqlerrm;
          end;
        end loop;
        for partition_name in
          select relid::text from pg_partition_tree('delivery_attempt')
          where relid::text ~ '^delivery_attempt_[0-9]{8}$'
            and right(relid::text, 8) < to_char(today - retention_days, 'YYYYMMDD')
        loop
          begin
            execute format('drop table %I', partition_name);
          exception when lock_not_available then
            raise warning 'partition % is dropped later', partition_name;
          end;
        end loop;
        delete from delivery_attempt_other where ended_at < (today - retention_days)::timestamp at time zone 'UTC';
      end if;
      return (select count(*) from delivery_attempt_other);
    end
    $$`;

/**
 * The outbox: events wait in `outbox_event` until their batch is delivered (docs/architecture.md, "Storage"). The
 * columns are ordered from wide to narrow types, so that rows need no padding.
 */
export const createDelivery: Migration = {
  name: 'CreateDelivery1795000000003',
  statements: [
    // Each server process takes a number that no process had before: a number used twice would not identify a process.
    'create sequence worker_slot as integer',
    createDestinationRuntime,
    createOutboxEvent,
    ...createOpenBatch,
    ...createDeliveryAttempt,
    createKeepDeliveryDays,
  ],
};
