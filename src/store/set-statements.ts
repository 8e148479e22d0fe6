import { binaryArray } from '../platform/database/binary-array';
import { statementNamed, type StatementPart } from '../platform/database/statement';
import { type Steps } from '../platform/time/steps';
import { type RowSource, SEARCH_TABLES, type SearchTable } from './search-tables';
import { type BoundStatement } from './binder';
import {
  assertKnown,
  INDEXED_COLUMNS,
  type IndexedResource,
  NEW_ROW_COLUMNS,
  NEW_ROW_NAMES,
  type NewRow,
  type ResourceColumn,
  withSteps,
} from './write-statements';

/** Statements that write many resources. Their values are arrays, one for each column (ADR 0017). */

/**
 * One statement that inserts many resources with their index rows. Its text is always the same, since a table without
 * rows costs little in a large set. Rows of `resource` are inserted by type and id, so that two such statements with
 * common ids never deadlock.
 */
export function* insertResources(rows: readonly NewRow[], parts: readonly StatementPart[] = []): Steps<BoundStatement> {
  const ordered = [...rows].sort(byTypeAndId);
  const values = [oldestVersionOf(ordered), ...(yield* arraysOf(NEW_ROW_COLUMNS, ordered))];
  const name = ['resource-insert-many', ...parts.map((part) => part.name)].join(' ');
  return {
    statement: statementNamed(name, () => insertText(parts, values.length)),
    values: [...values, ...parts.flatMap((part) => part.values)],
  };
}

/**
 * The oldest version of the search parameters with which a row was made. If it is outdated, the whole statement fails
 * and starts over (ADR 0019).
 */
const oldestVersionOf = (rows: readonly { readonly parametersVersion: number }[]): number =>
  Math.min(...rows.map(({ parametersVersion }) => parametersVersion));

/**
 * SQL of the insert.
 * @param used number of parameters that come before those of `parts`
 */
function insertText(parts: readonly StatementPart[], used: number): string {
  const places = new SetPlaces(1); // $1 is the version of the parameters
  const checked = NEW_ROW_NAMES.replace(/\bversion\b/, 'version + z.checked');
  const resource = `insert into resource (${NEW_ROW_NAMES}) select ${checked} from ${places.unnest(NEW_ROW_COLUMNS)}
    cross join (select ${assertKnown('$1::bigint')} as checked offset 0) z`;
  const steps = SEARCH_TABLES.map((table) => table.insertSql(places.sourceOf(table)));
  let last = used;
  const more = parts.map(({ values, sqlOf }) => sqlOf(values.map(() => `$${++last}`)));
  return withSteps([...steps, ...more], resource);
}

const byTypeAndId = (a: NewRow, b: NewRow): number =>
  a.type === b.type ? (a.id < b.id ? -1 : 1) : a.type < b.type ? -1 : 1;

/**
 * One statement that replaces the index rows of stored resources by those of `resources`. It changes the same rows as
 * an update of each resource, but adds no version. The caller has locked the resources.
 */
export function* reindexResources(resources: readonly IndexedResource[], keepsDigests: boolean): Steps<BoundStatement> {
  return {
    statement: statementNamed('resource-reindex', reindexText),
    values: [oldestVersionOf(resources), keepsDigests, ...(yield* arraysOf(INDEXED_COLUMNS, resources))],
  };
}

function reindexText(): string {
  const places = new SetPlaces(2); // $1 is the version of the parameters, $2 is keepsDigests
  // An outdated digest may stay, since no update would use it. So a job over all resources of a type does not have to
  // write each row of `resource`.
  const resource = `update resource r set main_date = u.main_date, reference_hash = u.reference_hash, present = u.present,
      index_digests = u.index_digests
    from ${places.unnest(INDEXED_COLUMNS)}
    where (select ${assertKnown('$1::bigint')}) = 0 and r.resource_key = u.resource_key
      and ((r.main_date, r.reference_hash, r.present) is distinct from (u.main_date, u.reference_hash, u.present)
        or ($2::boolean and r.index_digests is distinct from u.index_digests) or (
        r.index_digests <> u.index_digests and split_part(r.index_digests, ' ', 1) = split_part(u.index_digests, ' ', 1)))`;
  const steps = SEARCH_TABLES.flatMap((table) =>
    table.replaceSql('s.resource_key = any($3::bigint[])', places.sourceOf(table)),
  );
  return withSteps(steps, resource);
}

/** Numbers the arrays of a statement as parameters. */
class SetPlaces {
  /** @param last number of the parameter before the first array */
  constructor(private last: number) {}

  unnest(columns: SearchTable['columns'] | readonly ResourceColumn<never>[]): string {
    const arrays = columns.map(([, type]) => `$${++this.last}::${type}[]`);
    return `unnest(${arrays.join(', ')}) u(${columns.map(([name]) => name).join(', ')})`;
  }

  sourceOf({ columns }: SearchTable): RowSource {
    return { key: 'u.resource_key', mainDate: 'u.main_date', unnest: this.unnest([...columns, ...OF_RESOURCE]) };
  }
}

/** The columns that each index row takes from its resource: key and main date. */
const OF_RESOURCE = INDEXED_COLUMNS.slice(0, 2);

/** The arrays of a statement: one for each column of `resource`, and one for each column of each search table. */
function* arraysOf<Item extends IndexedResource>(
  columns: readonly ResourceColumn<Item>[],
  items: readonly Item[],
): Steps<Buffer[]> {
  const arrays = columns.map(([, type, of]) => binaryArray(type, items.map(of)));
  for (const [index, table] of SEARCH_TABLES.entries()) {
    yield;
    arrays.push(...rowArraysOf(table, index, items));
  }
  return arrays;
}

/** The rows of all resources in one table, in the order of {@link SetPlaces.sourceOf}. */
function rowArraysOf({ columns }: SearchTable, table: number, items: readonly IndexedResource[]): Buffer[] {
  const values: unknown[][] = columns.map(() => []);
  const owners: IndexedResource[] = [];
  for (const item of items) {
    const added = item.columns[table] ?? [];
    for (const [index, of] of added.entries()) for (const value of of) values[index]?.push(value);
    added[0]?.forEach(() => owners.push(item));
  }
  return [
    ...columns.map(([, type], index) => binaryArray(type, values[index] ?? [])),
    ...OF_RESOURCE.map(([, type, of]) => binaryArray(type, owners.map(of))),
  ];
}
