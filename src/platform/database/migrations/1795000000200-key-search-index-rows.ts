import { type Migration } from '../migration';

interface KeyedTable {
  readonly name: string;
  /** The columns that tell the rows of a resource apart. */
  readonly own: string;
  /** The rest of the definition of the primary key after `resource_key`. */
  readonly key: string;
  /** Added with the key, so that the table is rewritten once. */
  readonly added?: string;
  /** An index that the key replaces. */
  readonly replaced?: string;
}

const TABLES: readonly KeyedTable[] = [
  { name: 'search_token', own: 'token_hash, system_hash', key: 'token_hash, system_hash)' },
  {
    name: 'reference_link',
    own: 'parameter_id, target_hash',
    key: 'parameter_id, target_hash)',
    replaced: 'reference_link_source_idx',
  },
  {
    name: 'search_date',
    own: 'parameter_id, low, high',
    key: 'parameter_id, low, high)',
    replaced: 'search_date_resource_idx',
  },
  {
    name: 'search_number',
    own: 'parameter_id, code_hash, value, unit_hash',
    key: 'parameter_id, code_hash, value, unit_hash)',
  },
];

/**
 * A btree entry has room for 2,700 bytes, so the key of a text holds its hash. The server hashes otherwise: an update
 * replaces the rows that were stored before.
 */
const STRINGS: KeyedTable = {
  name: 'search_string',
  own: 'parameter_id, value',
  key: 'parameter_id, value_hash) include (beginning)',
  added: 'add column value_hash bigint not null generated always as (hashtextextended(value, 0)) stored,',
  replaced: 'search_string_resource_idx',
};

/**
 * Rows may stand twice: an extension whose search parameter changed left rows behind, and later updates added them again.
 * One of each stays, with the main date of its resource if there is such a one.
 */
function addKeySql({ name, own, key, added = '', replaced }: KeyedTable): string {
  const addKey = `alter table ${name} ${added} add constraint ${name}_pk primary key (resource_key, ${key}`;
  return `do $$
    begin
      if exists (select from pg_constraint where conname = '${name}_pk') then return; end if;
      ${replaced === undefined ? '' : `drop index if exists ${replaced};`}
      begin
        ${addKey};
      exception when unique_violation then
        delete from ${name} s using (
          select s.ctid, row_number() over (
            partition by resource_key, ${own} order by s.main_date = r.main_date desc nulls last
          ) as place
          from ${name} s left join resource r using (resource_key)
        ) copy where s.ctid = copy.ctid and copy.place > 1;
        ${addKey};
      end;
    end $$`;
}

/**
 * Primary keys of the search index rows (ADR 0043): all rows of a resource are found by it, none stands twice, and logical
 * replication knows each. One transaction a table: a start that is interrupted goes on with the next table.
 * `index_digests` is null for resources that were stored before: their next update compares with the stored rows.
 */
export const keySearchIndexRows: Migration = {
  name: 'KeySearchIndexRows1795000000200',
  isApart: true,
  statements: [
    ...[...TABLES, STRINGS].map(addKeySql),
    // From here on the server writes it: PostgreSQL 18 publishes no row whose identity has a generated column.
    'alter table search_string alter column value_hash drop expression if exists',
    'alter table resource add column if not exists index_digests text',
  ],
};
