import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** Credentials that turned out wrong, by a keyed hash of account and address: the table names nobody. */
export class CreateCredentialFailure1795000000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Rows live for minutes and are updated by each try: room on the page keeps that from touching the indexes.
    await runner.query(`
      create table credential_failure (
        expires_at timestamptz not null,
        blocked_until timestamptz not null,
        failures integer not null,
        key bytea constraint credential_failure_pk primary key
      ) with (fillfactor = 50)`);
    await runner.query('create index credential_failure_expires_idx on credential_failure (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table credential_failure');
  }
}
