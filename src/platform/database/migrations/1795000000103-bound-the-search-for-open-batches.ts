import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * Open batches by destination and epoch, and the epoch of the latest settlement: an open batch has a later one. A batch
 * that is open during the upgrade has epoch 0.
 */
export class BoundTheSearchForOpenBatches1795000000103 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table destination_runtime add column settled_epoch bigint not null default -1');
    await runner.query('alter table open_batch add column epoch bigint not null default 0');
    await runner.query('alter table open_batch drop constraint open_batch_pk');
    await runner.query('alter table open_batch add constraint open_batch_pk primary key (destination_key, epoch)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table open_batch drop constraint open_batch_pk');
    await runner.query('alter table open_batch add constraint open_batch_pk primary key (destination_key)');
    await runner.query('alter table open_batch drop column epoch');
    await runner.query('alter table destination_runtime drop column settled_epoch');
  }
}
