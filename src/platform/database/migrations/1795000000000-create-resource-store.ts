import { type Migration } from '../migration';

const createResource = [
  // Each server process takes a block of 1,000 keys by one nextval. So it knows the key of a new resource before the
  // insert, and can write the search index rows without waiting for an answer.
  'create sequence resource_key_sequence increment by 1000',
  `
    create table resource (
      resource_key bigint constraint resource_pk primary key,
      main_date timestamptz not null,
      updated_at timestamptz not null,
      reference_hash bigint not null,
      present bigint not null default 0,
      transaction_id xid8 not null default pg_current_xact_id(),
      version integer not null,
      type text not null,
      id text not null,
      method text not null,
      body text not null
    )`,
  'create unique index resource_type_id_idx on resource (type, id)',
  'create index resource_reference_hash_idx on resource (reference_hash)',
  'create index resource_main_date_idx on resource (type, main_date desc, resource_key desc) include (present)',
  'create index resource_updated_at_idx on resource (type, updated_at desc, resource_key desc)',
  `create view resource_json as
    select type, id, version, updated_at, main_date, body::jsonb as body from resource`,
];

const createHistory = [
  `
    create table resource_history (
      updated_at timestamptz not null,
      transaction_id xid8 not null default pg_current_xact_id(),
      version integer not null,
      type text not null,
      id text not null,
      method text not null,
      body text,
      constraint resource_history_pk primary key (type, id, version),
      constraint resource_history_body_check check ((method = 'DELETE') = (body is null))
    )`,
  // lz4 costs half as much as pglz for each write and read. PostgreSQL builds without lz4 keep their default.
  `
    do $$ begin
      if (select 'lz4' = any (enumvals) from pg_settings where name = 'default_toast_compression') then
        alter table resource alter column body set compression lz4;
        alter table resource_history alter column body set compression lz4;
      end if;
    end $$`,
  // A stored version never changes. The trigger also stops other programs that write to the database.
  `
    create function refuse_history_change() returns trigger language plpgsql as
    $$ begin raise exception 'resource_history is append-only'; end $$`,
  `
    create trigger resource_history_append_only before update or delete or truncate on resource_history
    for each statement execute function refuse_history_change()`,
];

const createSearchRows = [
  `
    create table search_token (
      token_hash bigint not null,
      main_date timestamptz not null,
      resource_key bigint not null,
      patient_hash bigint not null,
      system_hash integer not null
    )`,
  'create index search_token_idx on search_token (token_hash, main_date desc, resource_key desc) include (patient_hash, system_hash)',
  'create index search_token_patient_idx on search_token (patient_hash, token_hash, main_date desc, resource_key desc) where patient_hash <> 0',
  // The search compiler reads in pg_stats which tokens are frequent. The default of 100 values per column is too few.
  'alter table search_token alter column token_hash set statistics 1000',

  `
    create table reference_link (
      target_hash bigint not null,
      main_date timestamptz not null,
      resource_key bigint not null,
      parameter_id integer not null
    )`,
  'create index reference_link_target_idx on reference_link (target_hash, parameter_id, main_date desc, resource_key desc)',
  'create index reference_link_source_idx on reference_link (resource_key, parameter_id) include (target_hash)',

  `
    create table search_date (
      low timestamptz not null,
      high timestamptz not null,
      main_date timestamptz not null,
      resource_key bigint not null,
      parameter_id integer not null
    )`,
  'create index search_date_idx on search_date (parameter_id, low desc, resource_key desc) include (high, main_date)',
  // Finds the dates of a given resource: for searches that find resources by another condition first, and for sorting.
  'create index search_date_resource_idx on search_date (resource_key, parameter_id) include (low, high)',
  `
    create index search_date_long_idx on search_date using gist (parameter_id, tstzrange(low, high, '[]'))
    where high - low > interval '1 day'`,

  `
    create table search_number (
      code_hash bigint not null,
      value double precision not null,
      main_date timestamptz not null,
      resource_key bigint not null,
      parameter_id integer not null,
      unit_hash integer not null
    )`,
  // Finds numbers by value within one code, the code that is stored with each number: for ranges with few matches, and
  // for sorting.
  'create index search_number_idx on search_number (parameter_id, code_hash, value, resource_key) include (main_date)',
  // Numbers without a code are in this index too, with code_hash 0. So the number of a given resource is found by the
  // exact key of the index.
  'create index search_number_code_idx on search_number (parameter_id, code_hash, main_date desc, resource_key desc) include (value, unit_hash)',
  // As for tokens: the number of rows of a code decides how the search compiler reads its numbers.
  'alter table search_number alter column code_hash set statistics 1000',
  `
    create table search_unit (
      unit_hash integer constraint search_unit_pk primary key,
      system text not null,
      code text not null,
      unit text not null
    )`,

  // A btree entry has room for 2,700 bytes, so only the beginning of a text is indexed. The beginning is a column,
  // since an index on an expression cannot answer a search without the table.
  `
    create table search_string (
      main_date timestamptz not null,
      resource_key bigint not null,
      parameter_id integer not null,
      value text not null,
      beginning text collate "C" not null generated always as (left(value, 256)) stored
    )`,
  'create index search_string_idx on search_string (parameter_id, beginning, resource_key) include (main_date)',
  'create index search_string_resource_idx on search_string (resource_key, parameter_id) include (beginning)',
  // GIN keeps the trigrams of new texts in a pending list until there are some thousand of them. With the list, the
  // index costs a write a sixth of the time that it costs without. Each search also reads the list, which is short
  // enough not to matter.
  `
    create index search_string_trigram_idx on search_string using gin (value gin_trgm_ops)
    with (fastupdate = on, gin_pending_list_limit = 256)`,
];

/**
 * The key of all hashes. It is random for each database: two values with the same hash here have different hashes in
 * another database. Only the first 32 bits of two UUIDs are used, since a UUID has fixed bits in its middle.
 */
const createHashKey = [
  'create table search_hash_key (low integer not null, high integer not null, is_only boolean constraint search_hash_key_pk primary key default true check (is_only))',
  `
    insert into search_hash_key (low, high)
    select ('x' || left(gen_random_uuid()::text, 8))::bit(32)::integer, ('x' || left(gen_random_uuid()::text, 8))::bit(32)::integer`,
];

/**
 * The table of the epochs, two counters of changes. A statement that inserts events compares the rights epoch. Such a
 * statement fails if rights have changed since the receivers of the events were chosen.
 */
const createRegistryEpoch = [
  'create table registry_epoch (epoch bigint not null, rights_epoch bigint not null, is_only boolean constraint registry_epoch_pk primary key default true check (is_only))',
  'insert into registry_epoch (epoch, rights_epoch) values (1, 1)',
  `
    create function refuse_outdated_rights() returns integer language plpgsql as $$
    begin
      raise exception 'rights changed' using errcode = '40001', constraint = 'registry_epoch';
    end $$`,
];

/**
 * Resources, their history and their search index rows (docs/architecture.md, "Storage"). The columns are ordered from
 * wide to narrow types, so that rows need no padding. Bodies are stored as text: numbers keep their digits, and a body
 * is sent without parsing.
 */
export const createResourceStore: Migration = {
  name: 'CreateResourceStore1795000000000',
  statements: [
    'create extension if not exists btree_gist',
    'create extension if not exists pg_trgm',
    ...createResource,
    ...createHistory,
    ...createSearchRows,
    ...createHashKey,
    ...createRegistryEpoch,
  ],
};
