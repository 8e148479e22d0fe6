import { type ArrayElementType, binaryArray } from '../platform/database/binary-array';
import { type Steps } from '../platform/time/steps';
import { type ColumnValues, type RowSource, SEARCH_TABLES, type SearchTable } from './search-tables';

/** A resource with its search rows. */
export interface IndexedResource {
  readonly key: number;
  readonly mainDate: Date;
  readonly present: bigint;
  readonly columns: readonly ColumnValues[];
  readonly indexDigests: string;
}

/** A column of an array parameter: its name, its type, and the value of one item. */
export type SetColumn<Item> = readonly [name: string, type: ArrayElementType, of: (item: Item) => unknown];

/** Numbers the arrays of a statement over many resources. */
export class SetPlaces {
  /** @param last the place before the first array */
  constructor(private last: number) {}

  unnest(columns: readonly (readonly [name: string, type: ArrayElementType, ...rest: unknown[]])[]): string {
    const arrays = columns.map(([, type]) => `$${++this.last}::${type}[]`);
    return `unnest(${arrays.join(', ')}) u(${columns.map(([name]) => name).join(', ')})`;
  }

  /** The rows of many resources, each with the key and the main date of its resource. */
  sourceOf({ columns }: SearchTable): RowSource {
    return { key: 'u.resource_key', mainDate: 'u.main_date', unnest: this.unnest([...columns, ...OF_RESOURCE]) };
  }
}

const OF_RESOURCE: readonly SetColumn<IndexedResource>[] = [
  ['resource_key', 'bigint', ({ key }) => key],
  ['main_date', 'timestamptz', ({ mainDate }) => mainDate],
];

/** The arrays of a statement over many resources: of their own columns, and of all rows of each search table. */
export function* arraysOf<Item extends IndexedResource>(
  columns: readonly SetColumn<Item>[],
  items: readonly Item[],
): Steps<Buffer[]> {
  const arrays = columns.map(([, type, of]) => binaryArray(type, items.map(of)));
  for (const [index, table] of SEARCH_TABLES.entries()) {
    yield;
    arrays.push(...rowArraysOf(table, index, items));
  }
  return arrays;
}

/** All rows of one table, in the order of {@link SetPlaces.sourceOf}. */
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
