import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** Why requests were denied, for a while (ADR 0021). */
export class CreateAccessDenials1795000000007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table access_denial (
        denial_number bigint generated always as identity constraint access_denial_pk primary key,
        denied_at timestamptz not null default clock_timestamp(),
        id uuid not null constraint access_denial_id_key unique,
        body text not null
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table access_denial');
  }
}
