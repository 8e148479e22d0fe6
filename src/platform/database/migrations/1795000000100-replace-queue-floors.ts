import { type Migration } from '../migration';
import { refuseFormatsBelow } from '../row-format';

/**
 * A transaction gets its id before its first number, so that ids tell which numbers are still open. An identity column
 * takes the number first. Its lock waits for each transaction that took a number from the old sequence.
 */
const takeIdsBeforeNumbers = [
  'lock table outbox_event in access exclusive mode',
  'create sequence outbox_event_id',
  `select setval('outbox_event_id', last_value, is_called) from outbox_event_event_id_seq`,
  'alter table outbox_event alter column event_id drop identity',
  // One expression, so that the planner inlines it. An argument is evaluated before its function is called.
  `
    create function next_event_id() returns bigint language sql volatile as $$
      select nextval(case when pg_current_xact_id() is not null then 'outbox_event_id'::regclass end)
    $$`,
  'alter table outbox_event alter column event_id set default next_event_id()',
];

/** One row: each event up to `decided_event_id` is committed or gone. The noted number becomes decided next. */
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

/** A mark that is raised costs a row version; one that is not costs a look at that many deleted rows. */
const LEAST_STEP = 1000;

/**
 * Notes the largest number, and decides the one that was noted before when each transaction that began before that note
 * is over. Must be alone in its transaction: an id that was given earlier proves nothing about numbers that are read now.
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
 * Low-water marks of delivery queues that rest on transaction ids alone (ADR 0035). The column of the old floors goes: a
 * server that still reads it fails its claims instead of skipping events.
 */
export const replaceQueueFloors: Migration = {
  name: 'ReplaceQueueFloors1795000000100',
  statements: [
    // The first migration after 0.1.0: its servers write nothing more beside this one and those that follow (ADR 0052).
    ...refuseFormatsBelow(1),
    ...takeIdsBeforeNumbers,
    'alter table destination_runtime drop column floor_event_id',
    'alter table destination_runtime add column low_water_mark bigint not null default 0',
    'alter table open_batch add column low_water_mark bigint not null default 0',
    ...createOutboxMark,
    createRaiseOutboxMark,
  ],
};
