import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * Low-water marks of delivery queues that rest on transaction ids alone (ADR 0035). The column of the old floors goes: a
 * server that still reads it fails its claims instead of skipping events.
 */
export class ReplaceQueueFloors1795000000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await takeIdsBeforeNumbers(runner);
    await runner.query('alter table destination_runtime drop column floor_event_id');
    await runner.query('alter table destination_runtime add column low_water_mark bigint not null default 0');
    await runner.query('alter table open_batch add column low_water_mark bigint not null default 0');
    await createOutboxMark(runner);
    await createRaiseOutboxMark(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function raise_outbox_mark');
    await runner.query('drop table outbox_mark');
    await runner.query('alter table open_batch drop column low_water_mark');
    await runner.query('alter table destination_runtime drop column low_water_mark');
    await runner.query('alter table destination_runtime add column floor_event_id bigint not null default 0');
    const [issued] = await issuedBy(runner, 'outbox_event_id');
    await runner.query('alter table outbox_event alter column event_id drop default');
    await runner.query('drop function next_event_id');
    await runner.query('drop sequence outbox_event_id');
    await runner.query('alter table outbox_event alter column event_id add generated always as identity');
    await runner.query(`select setval('outbox_event_event_id_seq', $1, $2)`, issued);
  }
}

/**
 * A transaction gets its id before its first number, so that ids tell which numbers are still open. An identity column
 * takes the number first. Its lock waits for each transaction that took a number from the old sequence.
 */
async function takeIdsBeforeNumbers(runner: QueryRunner): Promise<void> {
  await runner.query('lock table outbox_event in access exclusive mode');
  const [issued] = await issuedBy(runner, 'outbox_event_event_id_seq');
  await runner.query('alter table outbox_event alter column event_id drop identity');
  await runner.query('create sequence outbox_event_id');
  await runner.query(`select setval('outbox_event_id', $1, $2)`, issued);
  // One expression, so that the planner inlines it. An argument is evaluated before its function is called.
  await runner.query(`
    create function next_event_id() returns bigint language sql volatile as $$
      select nextval(case when pg_current_xact_id() is not null then 'outbox_event_id'::regclass end)
    $$`);
  await runner.query('alter table outbox_event alter column event_id set default next_event_id()');
}

const issuedBy = async (runner: QueryRunner, sequence: string): Promise<[string, boolean][]> =>
  (
    (await runner.query(`select last_value, is_called from ${sequence}`)) as {
      last_value: string;
      is_called: boolean;
    }[]
  ).map(({ last_value, is_called }) => [last_value, is_called]);

/** One row: each event up to `decided_event_id` is committed or gone. The noted number becomes decided next. */
async function createOutboxMark(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create table outbox_mark (
      is_only boolean constraint outbox_mark_pk primary key default true check (is_only),
      decided_event_id bigint not null default 0,
      noted_event_id bigint not null default 0,
      noted_by xid8 not null default '0'
    )`);
  await runner.query('insert into outbox_mark default values');
}

/**
 * Notes the largest number, and decides the one that was noted before when each transaction that began before that note
 * is over. Must be alone in its transaction: an id that was given earlier proves nothing about numbers that are read now.
 */
async function createRaiseOutboxMark(runner: QueryRunner): Promise<void> {
  await runner.query(`
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
    $$`);
}

/** A mark that is raised costs a row version; one that is not costs a look at that many deleted rows. */
const LEAST_STEP = 1000;
