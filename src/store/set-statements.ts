import { type StatementPart } from '../platform/database/statement';
import { type Steps } from '../platform/time/steps';
import { type RowSource, SEARCH_TABLES, type SearchTable } from './search-tables';
import { type BoundStatement } from './binder';
import {
  assertKnown,
  ChangeBinder,
  INDEXED_COLUMNS,
  type IndexedResource,
  NEW_ROW_COLUMNS,
  NEW_ROW_NAMES,
  type NewRow,
} from './write-statements';

/** Statements that write many resources. Their values are arrays, one for each column (ADR 0017). */

/**
 * One statement that inserts many resources with their index rows. Its text is always the same, since a table without
 * rows costs little in a large set. Rows of `resource` are inserted by type and id, so that two such statements with
 * common ids never deadlock.
 */
export function* insertResources(rows: readonly NewRow[], parts: readonly StatementPart[] = []): Steps<BoundStatement> {
  const ordered = [...rows].sort(byTypeAndId);
  const binder = new ChangeBinder('resource-insert-many');
  const known = binder.bind(oldestVersionOf(ordered));
  const unnest = binder.bindArrays(
    NEW_ROW_COLUMNS,
    NEW_ROW_COLUMNS.map(([, , of]) => ordered.map(of)),
  );
  yield* changeTables(binder, ordered, (table, from) => [table.insertSql(from)]);
  for (const part of parts) binder.join(part);
  return binder.finish(() => {
    const checked = NEW_ROW_NAMES.replace(/\bversion\b/, 'version + z.checked');
    return `insert into resource (${NEW_ROW_NAMES}) select ${checked} from ${unnest()}
    cross join (select ${assertKnown(`${known}::bigint`)} as checked offset 0) z`;
  });
}

const byTypeAndId = (a: NewRow, b: NewRow): number =>
  a.type === b.type ? (a.id < b.id ? -1 : 1) : a.type < b.type ? -1 : 1;

/**
 * One statement that replaces the index rows of stored resources by those of `resources`. It changes the same rows as
 * an update of each resource, but adds no version. The caller has locked the resources.
 */
export function* reindexResources(resources: readonly IndexedResource[], keepsDigests: boolean): Steps<BoundStatement> {
  const binder = new ChangeBinder('resource-reindex');
  const known = binder.bind(oldestVersionOf(resources));
  const keeps = binder.bind(keepsDigests);
  const unnest = binder.bindArrays(
    INDEXED_COLUMNS,
    INDEXED_COLUMNS.map(([, , of]) => resources.map(of)),
  );
  // $3 is the array of the keys, the first column.
  yield* changeTables(binder, resources, (table, from) => table.replaceSql('s.resource_key = any($3::bigint[])', from));
  // A digest of older versions may stay, since updates ignore it. So a job need not write each row of `resource`.
  return binder.finish(
    () => `update resource r set main_date = u.main_date, reference_hash = u.reference_hash, present = u.present,
      index_digests = u.index_digests
    from ${unnest()}
    where (select ${assertKnown(`${known}::bigint`)}) = 0 and r.resource_key = u.resource_key
      and ((r.main_date, r.reference_hash, r.present) is distinct from (u.main_date, u.reference_hash, u.present)
        or (${keeps}::boolean and r.index_digests is distinct from u.index_digests) or (
        r.index_digests <> u.index_digests and split_part(r.index_digests, ' ', 1) = split_part(u.index_digests, ' ', 1)))`,
  );
}

/**
 * The oldest version of the search parameters with which a row was made. If it is outdated, the whole statement fails
 * and starts over (ADR 0019).
 */
const oldestVersionOf = (rows: readonly { readonly parametersVersion: number }[]): number =>
  Math.min(...rows.map(({ parametersVersion }) => parametersVersion));

/** The columns that each index row takes from its resource: key and main date. */
const OF_RESOURCE = INDEXED_COLUMNS.slice(0, 2);

/** Adds the changes of all search tables for a set of resources. It pauses before each table. */
function* changeTables(
  binder: ChangeBinder,
  items: readonly IndexedResource[],
  sqlOf: (table: SearchTable, from: RowSource) => readonly string[],
): Steps<void> {
  for (const [index, table] of SEARCH_TABLES.entries()) {
    yield;
    const unnest = binder.bindArrays([...table.columns, ...OF_RESOURCE], rowArraysOf(table, index, items));
    binder.add(() => sqlOf(table, { key: 'u.resource_key', mainDate: 'u.main_date', unnest: unnest() }));
  }
}

/** The rows of all resources in one table: an array for each column, then those of OF_RESOURCE. */
function rowArraysOf({ columns }: SearchTable, table: number, items: readonly IndexedResource[]): unknown[][] {
  const values: unknown[][] = columns.map(() => []);
  const owners: IndexedResource[] = [];
  for (const item of items) {
    const added = item.columns[table] ?? [];
    for (const [index, of] of added.entries()) for (const value of of) values[index]?.push(value);
    added[0]?.forEach(() => owners.push(item));
  }
  return [...values, ...OF_RESOURCE.map(([, , of]) => owners.map(of))];
}
