import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * Under a publication of all tables, PostgreSQL deletes only rows that subscribers can tell apart. The partitions of days
 * are dropped as a whole; from the default one, which is nearly always empty, rows are deleted.
 */
export class IdentifyDeliveryAttempts1795000000201 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table delivery_attempt_other replica identity full');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table delivery_attempt_other replica identity default');
  }
}
