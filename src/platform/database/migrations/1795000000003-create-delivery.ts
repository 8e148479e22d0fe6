import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * The outbox: events wait in `outbox_event` until the batch that holds them is delivered (docs/architecture.md,
 * "Storage"). Columns run from wide to narrow, so that rows need no padding.
 */
export class CreateDelivery1795000000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Each server process takes a number that no process had before: a name that is used twice proves nothing.
    await runner.query('create sequence worker_slot as integer');
    await createDestinationRuntime(runner);
    await createOutboxEvent(runner);
    await createOpenBatch(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table open_batch, outbox_event, destination_runtime');
    await runner.query('drop sequence worker_slot');
  }
}

/** A destination that is deleted and made again gets a new key: events of the old one can never reach it. */
async function createDestinationRuntime(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create table destination_runtime (
      destination_key bigint generated always as identity constraint destination_runtime_pk primary key,
      epoch bigint not null default 0,
      lease_until timestamptz,
      next_attempt_at timestamptz not null default clock_timestamp(),
      started_at timestamptz not null default clock_timestamp(),
      next_event_number bigint not null default 1,
      delivered_batches bigint not null default 0,
      delivered_events bigint not null default 0,
      failed_batches bigint not null default 0,
      failed_events bigint not null default 0,
      owner_slot integer,
      fail_streak integer not null default 0,
      max_messages_in_batch integer not null,
      timeout_seconds integer not null,
      destination_id text not null constraint destination_runtime_id_key unique,
      kind text not null,
      presentation text not null,
      sealed_settings bytea not null,
      last_errors jsonb not null default '[]'
    ) with (fillfactor = 50)`);
}

/**
 * Rows are inserted once, deleted once, and never updated. The sequence may not be cached: of one resource a later
 * version must get a larger number whichever connection writes it.
 */
async function createOutboxEvent(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create table outbox_event (
      event_id bigint generated always as identity (cache 1),
      destination_key bigint not null,
      recorded_at timestamptz not null default clock_timestamp(),
      payload_bytes integer not null,
      version integer not null,
      resource_type text not null,
      resource_id text not null,
      interaction text not null,
      method text not null,
      constraint outbox_event_pk primary key (destination_key, event_id)
    ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05)`);
}

/** At most one batch of a destination is on its way; this row is what its retries repeat. */
async function createOpenBatch(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create table open_batch (
      destination_key bigint constraint open_batch_pk primary key,
      first_number bigint not null,
      created_at timestamptz not null default clock_timestamp(),
      event_ids bigint[] not null,
      presentation text not null
    )`);
}
