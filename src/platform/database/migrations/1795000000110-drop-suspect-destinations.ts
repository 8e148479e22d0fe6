import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** Destinations have no priority classes any more (ADR 0037). A server that still runs with them fails its claims aloud. */
export class DropSuspectDestinations1795000000110 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table destination_runtime drop column is_suspect');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table destination_runtime add column is_suspect boolean not null default true');
  }
}
