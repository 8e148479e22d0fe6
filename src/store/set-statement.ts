import { type ArrayElementType, binaryArray } from '../platform/database/binary-array';
import { type SearchRows } from '../search-index/extract/search-rows';
import { type RowSource, type SearchTable } from './search-tables';

/** The key of a resource, and what its search rows are made of. */
export interface IndexedResource {
  readonly key: number;
  readonly mainDate: Date;
  readonly rows: SearchRows;
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

const OF_RESOURCE = [
  ['resource_key', 'bigint'],
  ['main_date', 'timestamptz'],
] as const;

export const arraysOf = <Item>(columns: readonly SetColumn<Item>[], items: readonly Item[]): Buffer[] =>
  columns.map(([, type, of]) => binaryArray(type, items.map(of)));

/** All rows of one table, in the order of {@link SetPlaces.sourceOf}. */
export function rowArraysOf({ columns }: SearchTable, resources: readonly IndexedResource[]): Buffer[] {
  const values: unknown[][] = [...columns, ...OF_RESOURCE].map(() => []);
  for (const { rows, key, mainDate } of resources) {
    const added = columns.map(([, , valuesOf]) => valuesOf(rows));
    const count = added[0]?.length ?? 0;
    if (count === 0) continue;
    for (const [index, of] of added.entries()) for (const value of of) values[index]?.push(value);
    const [keys, dates] = values.slice(columns.length);
    for (let i = 0; i < count; i++) {
      keys?.push(key);
      dates?.push(mainDate);
    }
  }
  return [...columns, ...OF_RESOURCE].map(([, type], index) => binaryArray(type, values[index] ?? []));
}
