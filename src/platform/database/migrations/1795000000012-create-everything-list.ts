import { type Migration } from '../migration';

/**
 * The lists of resources behind the pages of `$everything`, kept as long as further pages can be requested (ADR 0027).
 * Writing to an unlogged table costs a third of writing to an ordinary one. If a crash of PostgreSQL empties the
 * tables, callers request their lists again.
 */
export const createEverythingList: Migration = {
  name: 'CreateEverythingList1795000000012',
  statements: [
    `
      create unlogged table everything_list (
        list_id uuid constraint everything_list_pk primary key,
        expires_at timestamptz not null,
        total integer not null,
        size integer not null,
        caller text not null,
        patient_id text not null
      )`,
    'create index everything_list_caller_idx on everything_list (caller, expires_at)',
    'create index everything_list_expires_at_idx on everything_list (expires_at)',
    `
      create unlogged table everything_entry (
        list_id uuid not null,
        position integer not null,
        version integer not null,
        bytes integer not null,
        type text not null,
        id text not null,
        parameters text not null,
        constraint everything_entry_pk primary key (list_id, position)
      )`,
  ],
};
