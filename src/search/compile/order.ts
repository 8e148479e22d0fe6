import { earliestInstant, latestInstant } from '../../fhir/instant';
import { ServiceError } from '../../platform/errors/service-error';
import { type PagePosition, type SortKey } from '../query/search-query';
import { type Binder } from '../../store/binder';
import { createdAt } from '../../store/resource-statements';
import { pathValue } from './path-test';
import { isLatitude, longitudeOf, metersTo, placesSource } from './near';

export interface OrderTerm {
  readonly cast: 'timestamptz' | 'text' | 'double precision';
  readonly isDescending: boolean;
}

/**
 * ORDER BY of a page, and the keyset condition that keeps the rows strictly after (or before) a position, even if rows
 * changed meanwhile. Rows without a value come last in either direction. Equal rows are ordered by key, in the
 * direction of the first term.
 */
export class PageOrder {
  constructor(
    private readonly terms: readonly OrderTerm[],
    private readonly bind: Binder,
    private readonly position: PagePosition | undefined,
    private readonly limit: number,
  ) {}

  get isReversed(): boolean {
    return this.position?.side === 'before';
  }

  private get hasAscendingKeys(): boolean {
    return (this.terms[0]?.isDescending ?? true) === this.isReversed;
  }

  /** Orders rows by the terms in columns `s0`, `s1` … of `alias`. */
  by(alias: string): string {
    const parts = this.terms.flatMap(({ isDescending }, index) => {
      const sql = `${alias}.s${index}`;
      const direction = isDescending === this.isReversed ? 'asc' : 'desc';
      return [`(${sql} is null) ${this.isReversed ? 'desc' : 'asc'}`, `${sql} ${direction}`];
    });
    return `order by ${[...parts, `${alias}.resource_key ${this.hasAscendingKeys ? 'asc' : 'desc'}`].join(', ')}`;
  }

  page(alias: string): string {
    return `${this.by(alias)} limit ${this.bind.value(this.limit)}`;
  }

  /** Keyset condition on rows with the terms in columns `s0`, `s1` … of `alias`. */
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
export function valueOf(value: PagePosition['values'][number] | undefined, cast: OrderTerm['cast']): unknown {
  if (value === undefined || value === null) return null;
  if (cast === 'text') return String(value);
  const isInstant = typeof value === 'number' && value >= earliestInstant && value <= latestInstant;
  if (typeof value === 'string' || (cast === 'timestamptz' && !isInstant))
    throw new ServiceError('page-link-invalid', 'The page link was changed on the way; begin again at the first page.');
  return cast === 'timestamptz' ? new Date(value).toISOString() : value;
}

const CASTS = {
  'main-date': 'timestamptz',
  updated: 'timestamptz',
  created: 'timestamptz',
  date: 'timestamptz',
  number: 'double precision',
  near: 'double precision',
  id: 'text',
  string: 'text',
  text: 'text',
  json: 'text',
} as const;

export const termOf = ({ by, isDescending }: SortKey): OrderTerm => ({
  cast: CASTS[by.kind === 'path' ? by.as : by.kind],
  isDescending,
});

/** SQL of the sort value of `h`, a row with main date and key. */
export function valueSqlOf({ by, isDescending }: SortKey, bind: Binder): string {
  const aggregate = isDescending ? 'max' : 'min';
  switch (by.kind) {
    case 'main-date':
      return 'h.main_date';
    case 'updated':
      return columnOfResource('updated_at');
    case 'created':
      return `(select ${createdAt('r')} from resource r where r.resource_key = h.resource_key)`;
    case 'id':
      return columnOfResource('id');
    case 'string':
      return `(select ${aggregate}(s.beginning) from search_string s
where s.resource_key = h.resource_key and s.parameter_id = any(${bind.value(by.parameterIds)}::integer[]))`;
    case 'date':
      return `(select ${aggregate}(s.low) from search_date s
where s.resource_key = h.resource_key and s.parameter_id = any(${bind.value(by.parameterIds)}::integer[]))`;
    case 'number':
      return `(select ${aggregate}(s.value) from unnest(${bind.value(by.parameterIds)}::integer[]) z(parameter_id)
cross join lateral (select n.value from search_number n where n.parameter_id = z.parameter_id and n.code_hash = 0
and n.main_date = h.main_date and n.resource_key = h.resource_key offset 0) s)`;
    case 'near': {
      const id = `${bind.value(by.parameterId)}::integer`;
      return `(select ${aggregate}(${metersTo('n')}) from search_number n cross join ${longitudeOf('n', id)}
cross join ${placesSource(by.places, bind)} where ${isLatitude('n', id)} and n.main_date = h.main_date and n.resource_key = h.resource_key)`;
    }
    case 'path':
      return `(select ${aggregate}(${pathValue('v', by.as)}) from resource b
cross join unnest(${bind.value(by.paths)}::text[]) z(path) cross join lateral jsonb_path_query(b.body::jsonb, z.path::jsonpath) v
where b.resource_key = h.resource_key)`;
  }
}

const columnOfResource = (column: string): string =>
  `(select r.${column} from resource r where r.resource_key = h.resource_key)`;
