import { type Migration } from '../migration';
import { refuseFormatsBelow } from '../row-format';

/**
 * Makes a transaction get its transaction id before its first event number. So transaction ids show which event numbers
 * belong to open transactions. An identity column would take the number first. The table lock waits for each
 * transaction that took a number from the old sequence.
 */
const takeIdsBeforeNumbers = [
  'lock table outbox_event in access exclusive mode',
  'create sequence outbox_event_id',
  `select setval('outbox_event_id', last_value, is_called) from outbox_event_event_id_seq`,
  'alter table outbox_event alter column event_id drop identity',
  // The function is one expression, so that the planner inlines it. An argument is evaluated before its function is
  // called, so the transaction gets its id before the number is taken.
  `
    create function next_event_id() returns bigint language sql volatile as $$
      select nextval(case when pg_current_xact_id() is not null then 'outbox_event_id'::regclass end)
    $$`,
  'alter table outbox_event alter column event_id set default next_event_id()',
];

/**
 * A table with one row. Each event up to `decided_event_id` is committed or rolled back. The noted number becomes the
 * decided number next.
 */
const createOutboxMark = [
  `
    create table outbox_mark (
      is_only boolean constraint outbox_mark_pk primary key default true check (is_only),
      decided_event_id bigint not null default 0,
      noted_event_id bigint not null default 0,
      noted_by xid8 not null default '0'
    )`,
  'insert into outbox_mark default values',
];

/**
 * The mark is raised only by this many numbers or more. Each raise writes a new version of the row. Between two raises,
 * a query of the queue passes up to this many deleted rows.
 */
const LEAST_STEP = 1000;

/**
 * Raises the mark. If each transaction that began before the last note has ended, the noted number becomes the decided
 * number, and the largest number so far is noted. The call must be the first statement of its transaction: a
 * transaction id that was assigned earlier proves nothing about numbers that are read now.
 */
const createRaiseOutboxMark = `
    create function raise_outbox_mark() returns void language plpgsql as $$
    declare
      issued bigint;
      mark outbox_mark;
    begin
      if pg_current_xact_id_if_assigned() is not null then
        raise 'raise_outbox_mark() must be the first statement of its transaction';
      end if;
      select case when is_called then last_value else 0 end into issued from outbox_event_id;
      -- Locking gives this transaction its id: after the number was read, so after the id of each writer up to it.
      select * into mark from outbox_mark where noted_event_id + ${LEAST_STEP} <= issued for update skip locked;
      if found and mark.noted_by <= pg_snapshot_xmin(pg_current_snapshot()) then
        update outbox_mark
        set decided_event_id = mark.noted_event_id, noted_event_id = issued, noted_by = pg_current_xact_id();
      end if;
    end
    $$`;

/**
 * Low-water marks of delivery queues that depend only on transaction ids (ADR 0035). The column of the old marks is
 * dropped. A server that still reads it then fails to claim batches, instead of skipping events.
 */
export const replaceQueueFloors: Migration = {
  name: 'ReplaceQueueFloors1795000000100',
  statements: [
    // This is the first migration after 0.1.0. From here on, servers of 0.1.0 that still run can no longer write (ADR
    // 0052).
    ...refuseFormatsBelow(1),
    ...takeIdsBeforeNumbers,
    'alter table destination_runtime drop column floor_event_id',
    'alter table destination_runtime add column low_water_mark bigint not null default 0',
    'alter table open_batch add column low_water_mark bigint not null default 0',
    ...createOutboxMark,
    createRaiseOutboxMark,
  ],
};
