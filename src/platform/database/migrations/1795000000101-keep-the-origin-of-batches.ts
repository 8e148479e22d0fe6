import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * What a batch is rendered with beside its events, fixed when it is opened, so that each retry and each replay has the
 * same bytes: JSON. Null for batches that a server of 240c7c3 has opened.
 */
export class KeepTheOriginOfBatches1795000000101 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table open_batch add column origin jsonb');
    await runner.query('alter table delivery_attempt add column origin jsonb');
    await runner.query('alter table outbox_event add column replayed_origin jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table outbox_event drop column replayed_origin');
    await runner.query('alter table delivery_attempt drop column origin');
    await runner.query('alter table open_batch drop column origin');
  }
}
