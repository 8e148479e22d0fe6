import { type Migration } from '../migration';

interface KeyedTable {
  readonly name: string;
  /** The columns that distinguish the rows of one resource. */
  readonly own: string;
  /** The columns of the primary key after `resource_key`, if they are not those in `own`. */
  readonly key?: string;
  /** The rest of the definition of the primary key. */
  readonly include?: string;
  /** A column that is added together with the key, so that the table is rewritten only once. */
  readonly added?: string;
  /** An index that the key replaces. */
  readonly replaced?: string;
}

const TABLES: readonly KeyedTable[] = [
  { name: 'search_token', own: 'token_hash, system_hash' },
  { name: 'reference_link', own: 'parameter_id, target_hash', replaced: 'reference_link_source_idx' },
  { name: 'search_date', own: 'parameter_id, low, high', replaced: 'search_date_resource_idx' },
  { name: 'search_number', own: 'parameter_id, code_hash, value, unit_hash' },
  // A btree entry has room for 2,700 bytes, so the key contains the hash of a text instead of the text. The server
  // computes a different hash than this migration; the next update of a resource replaces its older rows.
  {
    name: 'search_string',
    own: 'parameter_id, value',
    key: 'parameter_id, value_hash',
    include: ' include (beginning)',
    added: 'add column value_hash bigint not null generated always as (hashtextextended(value, 0)) stored,',
    replaced: 'search_string_resource_idx',
  },
];

/**
 * Adds the primary key. The table may have duplicate rows: when the search parameter of an extension changed, old rows
 * remained, and later updates added them again. One of the duplicates is kept: if possible the one that has the main
 * date of its resource (its clinical date, else its time of creation).
 */
function addKeySql({ name, own, key = own, include = '', added = '', replaced }: KeyedTable): string {
  const addKey = `alter table ${name} ${added} add constraint ${name}_pk primary key (resource_key, ${key})${include}`;
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
 * Primary keys of the search index rows (ADR 0043). They find all rows of a resource, prevent duplicates, and identify
 * each row for logical replication. Each table is changed in a transaction of its own, so that an interrupted start
 * continues with the next table. `index_digests` is null for resources that were stored before. Their next update
 * compares its rows with the stored rows instead.
 */
export const keySearchIndexRows: Migration = {
  name: 'KeySearchIndexRows1795000000200',
  isApart: true,
  statements: [
    ...TABLES.map(addKeySql),
    // From now on the server itself computes the hash. PostgreSQL 18 cannot publish rows whose replica identity has a
    // generated column.
    'alter table search_string alter column value_hash drop expression if exists',
    'alter table resource add column if not exists index_digests text',
  ],
};
