import { type Statement } from '../../platform/database/statement';
import { Binder, type BoundStatement } from '../../store/binder';
import { ENTRY_ORDER, type QueryPart } from '../plan/query-parts';

/** Maximum number of stored lists of pages of one caller. A further list makes the server delete the oldest. */
const LISTS_OF_CALLER = 20;

/** Maximum number of entries in all lists together. An entry has about 100 bytes. */
const MOST_ENTRIES = 2_000_000;

/** Maximum number of lists that one statement of the sweep deletes. A list has up to 500,000 entries. */
const SWEPT_AT_ONCE = 20;

/** Adds the rows of a query part to a list, at the positions from `offset` on, and returns their number. */
export function entriesAdded({ rows }: QueryPart, listId: string, offset: number): BoundStatement {
  const bind = new Binder();
  return bind.finish(`with added as (
      insert into everything_entry (list_id, position, version, bytes, type, id, parameters)
      select ${bind.value(listId)}::uuid, ${bind.value(offset)}::integer + (row_number() over (${ENTRY_ORDER}))::integer - 1, version, bytes, type, id, parameters
      from (${rows(bind)}) row returning position
    ) select count(*)::integer as added from added`);
}

/**
 * Adds a list: $1 its id, $2 lifetime in seconds, $3 number of matches, $4 number of entries, $5 caller, $6 patient.
 */
export const ADD_LIST: Statement = {
  name: 'everything-list-add',
  text: `insert into everything_list (list_id, expires_at, total, size, caller, patient_id)
    values ($1, clock_timestamp() + $2 * interval '1 second', $3, $4, $5, $6)`,
};

/** Deletes entries that no list needs, because the first page holds everything. */
export const FORGET_ENTRIES: Statement = {
  name: 'everything-entries-forget',
  text: 'delete from everything_entry where list_id = $1',
};

export const FIND_LIST: Statement = {
  name: 'everything-list-find',
  text: 'select total, size, caller, patient_id from everything_list where list_id = $1 and expires_at > clock_timestamp()',
};

/** Reads the entries of a page: $1 list, $2 first position, $3 number of entries. */
export const READ_ENTRIES: Statement = {
  name: 'everything-entries-read',
  text: `select position, type, id, version, bytes, parameters from everything_entry
    where list_id = $1 and position >= $2 and position < $2 + $3 order by position`,
};

/**
 * SQL that deletes the lists which `lists` selects, with their entries. Lists that another statement is deleting are
 * skipped. It returns whether the sweep may find more lists.
 */
const forgetting = (lists: string): string => `with gone as (
    delete from everything_list where list_id in (select list_id from everything_list where ${lists} for update skip locked) returning list_id
  ), entries as (
    delete from everything_entry e using gone where e.list_id = gone.list_id
  ) select count(*) = ${SWEPT_AT_ONCE} as has_more from gone`;

export const SWEEP: Statement = {
  name: 'everything-list-sweep',
  text: forgetting(`expires_at < clock_timestamp() order by expires_at limit ${SWEPT_AT_ONCE}`),
};

/** Deletes the oldest lists of a caller ($1), so that there is room for one more. */
export const FORGET_OLDEST: Statement = {
  name: 'everything-list-forget-oldest',
  text: forgetting(
    `list_id in (select list_id from everything_list where caller = $1 order by expires_at desc offset ${LISTS_OF_CALLER - 1})`,
  ),
};

/**
 * Deletes the oldest lists of the callers with the most entries, until all lists together are within the maximum. The
 * newest list of each caller stays: its caller may be reading the pages now.
 */
export const FORGET_MOST: Statement = {
  name: 'everything-list-forget-most',
  text: forgetting(`list_id in (
      select list_id from (
        select list_id, is_newest, sum(size) over (order by is_newest, held desc, list_id) - size as freed_before, total
        from (
          select list_id, size, row_number() over newest_first = 1 as is_newest, sum(size) over newest_first as held,
            sum(size) over () as total
          from everything_list window newest_first as (partition by caller order by expires_at desc, list_id)
        ) lists
      ) ranked where not is_newest and freed_before <= total - ${MOST_ENTRIES})`),
};

export const IS_FULL: Statement = {
  name: 'everything-list-is-full',
  text: `select coalesce(sum(size), 0) >= ${MOST_ENTRIES} as is_full from everything_list`,
};
