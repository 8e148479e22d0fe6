import { earliestInstant, latestInstant } from '../../../fhir/instant';
import { ServiceError } from '../../../platform/errors/service-error';
import { type PagePosition, type SortKey } from '../search-query';
import { type Binder } from './binder';
import { pathValue } from './path-test';
import { createdAt } from './predicate';
import { isLatitude, longitudeOf, metersTo, placesSource } from './near';

/** One expression that pages are ordered by. */
export interface OrderTerm {
  readonly sql: string;
  readonly cast: 'timestamptz' | 'text' | 'double precision';
  readonly isDescending: boolean;
}

/** The values of a row in the order of the terms, ready for a link. */
export type OrderValues = PagePosition['values'];

/**
 * Order and keyset of a page: the rows strictly behind (or before) a position, whatever has changed meanwhile. Rows
 * without a value come last in either direction; rows with equal values follow each other in the direction of the first.
 */
export class PageOrder {
  constructor(
    private readonly terms: readonly OrderTerm[],
    private readonly bind: Binder,
    private readonly position: PagePosition | undefined,
    private readonly limit: number,
  ) {}

  /** True when the page is read backwards, from its end to its beginning. */
  get isReversed(): boolean {
    return this.position?.side === 'before';
  }

  /** True when row keys ascend. */
  private get hasAscendingKeys(): boolean {
    return (this.terms[0]?.isDescending ?? true) === this.isReversed;
  }

  orderBy(keyAlias: string, rename?: (term: OrderTerm, index: number) => string): string {
    const parts = this.terms.flatMap((term, index) => {
      const sql = rename?.(term, index) ?? term.sql;
      const direction = term.isDescending === this.isReversed ? 'asc' : 'desc';
      return [`(${sql} is null) ${this.isReversed ? 'desc' : 'asc'}`, `${sql} ${direction}`];
    });
    return `order by ${[...parts, `${keyAlias}.resource_key ${this.hasAscendingKeys ? 'asc' : 'desc'}`].join(', ')} limit ${this.bind.value(this.limit)}`;
  }

  /** A condition on rows whose terms stand in columns `s0`, `s1` … of `alias`. */
  keyset(alias: string): string {
    const { position } = this;
    if (position === undefined) return 'true';
    const isAfter = position.side === 'after';
    const equal: string[] = [];
    const alternatives: string[] = [];
    this.terms.forEach(({ cast, isDescending }, index) => {
      const column = `${alias}.s${index}`;
      const value = `${this.bind.value(valueOf(position.values[index], cast))}::${cast}`;
      const nulls = isAfter ? '>' : '<';
      alternatives.push([...equal, `(${column} is null) ${nulls} (${value} is null)`].join(' and '));
      alternatives.push([...equal, `${column} ${isDescending === isAfter ? '<' : '>'} ${value}`].join(' and '));
      equal.push(`${column} is not distinct from ${value}`);
    });
    const key = `${alias}.resource_key ${this.hasAscendingKeys ? '>' : '<'} ${this.bind.value(position.key)}::bigint`;
    return `(${[...alternatives, [...equal, key].join(' and ')].join(' or ')})`;
  }
}

/** @throws ServiceError 'invalid' for a value that no row of the term can have */
export function valueOf(value: OrderValues[number] | undefined, cast: OrderTerm['cast']): unknown {
  if (value === undefined || value === null) return null;
  if (cast === 'text') return String(value);
  const isInstant = typeof value === 'number' && value >= earliestInstant && value <= latestInstant;
  if (typeof value === 'string' || (cast === 'timestamptz' && !isInstant))
    throw new ServiceError('invalid', 'The page link was changed on the way; begin again at the first page.');
  return cast === 'timestamptz' ? new Date(value).toISOString() : value;
}

/** What a sort key is in SQL on `h`, a row with main date and key. */
export function termOf({ by, isDescending }: SortKey, bind: Binder): OrderTerm {
  const aggregate = isDescending ? 'max' : 'min';
  switch (by.kind) {
    case 'main-date':
      return { sql: 'h.main_date', cast: 'timestamptz', isDescending };
    case 'updated':
      return { sql: columnOfResource('updated_at'), cast: 'timestamptz', isDescending };
    case 'created':
      return {
        sql: `(select ${createdAt('r')} from resource r where r.resource_key = h.resource_key)`,
        cast: 'timestamptz',
        isDescending,
      };
    case 'id':
      return { sql: `${columnOfResource('id')} collate "C"`, cast: 'text', isDescending };
    case 'string':
      return {
        sql: `(select ${aggregate}(left(s.value, 256) collate "C") from search_string s
where s.resource_key = h.resource_key and s.parameter_id = any(${bind.value(by.parameterIds)}::integer[]))`,
        cast: 'text',
        isDescending,
      };
    case 'date':
      return {
        sql: `(select ${aggregate}(s.low) from search_date s
where s.resource_key = h.resource_key and s.parameter_id = any(${bind.value(by.parameterIds)}::integer[]))`,
        cast: 'timestamptz',
        isDescending,
      };
    case 'number':
      return {
        sql: `(select ${aggregate}(s.value) from unnest(${bind.value(by.parameterIds)}::integer[]) z(parameter_id)
cross join lateral (select n.value from search_number n where n.parameter_id = z.parameter_id and n.code_hash = 0
and n.main_date = h.main_date and n.resource_key = h.resource_key offset 0) s)`,
        cast: 'double precision',
        isDescending,
      };
    case 'near': {
      const id = `${bind.value(by.parameterId)}::integer`;
      return {
        sql: `(select ${aggregate}(${metersTo('n')}) from search_number n cross join ${longitudeOf('n', id)}
cross join ${placesSource(by.places, bind)} where ${isLatitude('n', id)} and n.main_date = h.main_date and n.resource_key = h.resource_key)`,
        cast: 'double precision',
        isDescending,
      };
    }
    case 'path':
      return {
        sql: `(select ${aggregate}(${pathValue('v', by.as)}) from resource b
cross join lateral jsonb_path_query(b.body::jsonb, ${bind.value(by.path)}::jsonpath) v where b.resource_key = h.resource_key)`,
        cast: by.as === 'number' ? 'double precision' : by.as === 'date' ? 'timestamptz' : 'text',
        isDescending,
      };
    case 'body':
      return {
        sql: `(select ${aggregate}(left(v #>> '{}', 256) collate "C") from resource b
cross join unnest(${bind.value(by.paths)}::text[]) z(path) cross join lateral jsonb_path_query(b.body::jsonb, z.path::jsonpath) v
where b.resource_key = h.resource_key)`,
        cast: 'text',
        isDescending,
      };
  }
}

const columnOfResource = (column: string): string =>
  `(select r.${column} from resource r where r.resource_key = h.resource_key)`;
