import { type Migration } from '../migration';

/**
 * The order of the addenda of each target, and the chain of hashes that proves it (docs/explanation/evidence.md). The addenda
 * themselves are resources; the order is ours, since clocks step and replicas differ.
 */
export const createAddendum: Migration = {
  name: 'CreateAddendum1795000000002',
  statements: [
    // Its row lock puts all writing calls for one target in line.
    `
      create table addendum_target (
        last_sequence integer not null,
        head_hash bytea not null default decode(repeat('00', 32), 'hex'),
        target_type text not null,
        target_id text not null,
        constraint addendum_target_pk primary key (target_type, target_id)
      )`,
    `
      create table addendum_entry (
        sequence integer not null,
        target_type text not null,
        target_id text not null,
        addendum_id text not null,
        snapshot_digest bytea,
        text_hash bytea not null,
        link_hash bytea not null,
        constraint addendum_entry_pk primary key (target_type, target_id, sequence),
        constraint addendum_entry_addendum_key unique (addendum_id)
      )`,
    `
      create index addendum_entry_snapshot_idx on addendum_entry (target_type, target_id, sequence)
      where snapshot_digest is not null`,
    // Whoever may change rows may drop a trigger too: this one stops accidents, the chain shows the rest.
    `
      create function refuse_addendum_entry_change() returns trigger language plpgsql as
      $$ begin raise exception 'addendum_entry is append-only'; end $$`,
    `
      create trigger addendum_entry_append_only before update or delete or truncate on addendum_entry
      for each statement execute function refuse_addendum_entry_change()`,
  ],
};
