import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * The order of the addenda of each target. The addenda themselves are resources; the order is ours, since clocks step
 * and replicas differ.
 */
export class CreateAddendum1795000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Its row lock puts all writing calls for one target in line.
    await runner.query(`
      create table addendum_target (
        last_sequence integer not null,
        target_type text not null,
        target_id text not null,
        constraint addendum_target_pk primary key (target_type, target_id)
      )`);
    await runner.query(`
      create table addendum_entry (
        sequence integer not null,
        target_type text not null,
        target_id text not null,
        addendum_id text not null,
        snapshot_digest bytea,
        constraint addendum_entry_pk primary key (target_type, target_id, sequence)
      )`);
    await runner.query(`
      create index addendum_entry_snapshot_idx on addendum_entry (target_type, target_id, sequence)
      where snapshot_digest is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table addendum_entry, addendum_target');
  }
}
