import { type Migration } from '../migration';

/**
 * The order of the addenda of each target, and the hash chain that proves this order (docs/explanation/evidence.md).
 * The addenda themselves are resources. The server numbers them, since clocks are adjusted and differ between replicas.
 */
export const createAddendum: Migration = {
  name: 'CreateAddendum1795000000002',
  statements: [
    // One row for each target. A writing call locks the row of its target, so such calls run one after the other.
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
    // The trigger only prevents accidents: anybody who may change rows may also drop the trigger. The hash chain
    // reveals all other changes.
    `
      create function refuse_addendum_entry_change() returns trigger language plpgsql as
      $$ begin raise exception 'addendum_entry is append-only'; end $$`,
    `
      create trigger addendum_entry_append_only before update or delete or truncate on addendum_entry
      for each statement execute function refuse_addendum_entry_change()`,
  ],
};
