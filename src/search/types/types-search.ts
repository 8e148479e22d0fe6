import { Injectable } from '@nestjs/common';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { fittingRows } from '../../store/late-texts';
import { type Reach } from '../rows/reach';
import { type RowLimit } from '../rows/row-limit';
import { ClauseResolver } from '../run/clause-resolver';
import { Binder, type CompiledSearch } from '../../platform/database/binder';
import { compilePlaces, compileTotal } from '../compile/compile-search';
import { foundColumns, foundResourceOf, type ResourceRow } from '../compile/found-resource';
import { IncludedResources } from '../include/included-resources';
import { type Include } from '../include/read-includes';
import { neighboursOf, type PlacedRow, type SearchPage } from '../run/resource-search';
import { type TotalMode } from '../query/result-parameters';
import { RowFrequencies } from '../run/row-frequencies';
import { type PagePosition, type SearchClause } from '../query/search-query';

/** A search over several types: each has clauses of its own, since their search rows differ. */
export interface TypesSearchRequest {
  readonly searches: readonly TypeSearch[];
  /** By the time of the last update; else the newest first. */
  readonly isOldestFirst: boolean;
  readonly count: number;
  readonly total: TotalMode;
  readonly position?: PagePosition;
  readonly includes: readonly Include[];
  /** What the caller may see; everything when absent. */
  readonly reach?: Reach | undefined;
}

export interface TypeSearch {
  readonly type: string;
  readonly clauses: readonly SearchClause[];
}

/** Where a match stands in the order of the answer. */
interface Place extends PlacedRow {
  readonly s0: Date;
}

/** Each type is one step along the index, however much of it is stored. */
export const STORED_TYPES: Statement = {
  name: 'search-stored-types',
  text: `with recursive t as ((select type from resource order by type limit 1)
    union all select (select r.type from resource r where r.type > t.type order by r.type limit 1) from t where t.type is not null)
    select type from t where type is not null`,
};

/** The bodies of rows by their keys $1, as far as a test of row `c` holds. */
const bodiesIf = (test: string): string =>
  `select ${foundColumns('c', 'order by k.place')} from unnest($1::bigint[]) with ordinality k(resource_key, place)
    cross join lateral (select * from resource r where r.resource_key = k.resource_key limit 1) c where ${test} order by k.place`;

const BODIES: Statement = { name: 'search-bodies', text: bodiesIf('true') };

/**
 * Finds resources of several types in one order, the time of their last update. Each type is a search of its own by the
 * statements that a search of one type has, which ends after a page; the pages are merged. So a search over types costs what
 * those of its types cost, and no index spans them.
 */
@Injectable()
export class TypesSearch {
  constructor(
    private readonly statements: Statements,
    private readonly resolver: ClauseResolver,
    private readonly frequencies: RowFrequencies,
    private readonly includedResources: IncludedResources,
  ) {}

  /** The types that anything is stored of: few, of the many that there are. */
  async storedTypes(): Promise<readonly string[]> {
    const rows = await this.statements.run<{ type: string }>(STORED_TYPES, []);
    return rows.map(({ type }) => type);
  }

  async search(request: TypesSearchRequest): Promise<SearchPage> {
    this.frequencies.refresh();
    const { count, position, isOldestFirst, reach } = request;
    const searches: TypeSearch[] = [];
    for (const { type, clauses } of request.searches)
      searches.push({ type, clauses: await this.resolver.resolveAll((await reach?.narrow(type, clauses)) ?? clauses) });
    const isReversed = position?.side === 'before';
    const places = count === 0 ? [] : await this.places(searches, request);
    const sign = isOldestFirst === isReversed ? -1 : 1;
    places.sort((a, b) => sign * (a.s0.getTime() - b.s0.getTime() || a.resource_key - b.resource_key));
    const asked = places.slice(0, count);
    const rows = await this.rows(asked, reach?.rows);
    const fitting = fittingRows(rows);
    const isShort = fitting.length < rows.length;
    const lastKey = fitting.at(-1)?.resource_key;
    const page = isShort ? asked.slice(0, 1 + asked.findIndex((place) => place.resource_key === lastKey)) : asked;
    const hasMore = places.length > page.length;
    const isWhole = position === undefined && !hasMore && count > 0;
    const total = isWhole ? page.length : await this.total(searches, request);
    const resources = fitting.map(foundResourceOf);
    if (isReversed) for (const list of [page, resources]) list.reverse();
    const { resources: included, ...rest } = await this.includedResources.of(resources, request.includes, reach);
    return {
      resources,
      included,
      ...rest,
      hasMore,
      isShort,
      ...(total === undefined ? {} : { total }),
      ...neighboursOf(page, { isReversed, terms: [{ cast: 'timestamptz' }] }, hasMore, position),
    };
  }

  /** The places of a page and one more, of each type. */
  private async places(
    searches: readonly TypeSearch[],
    { isOldestFirst, count, position }: TypesSearchRequest,
  ): Promise<Place[]> {
    const places: Place[] = [];
    for (const { type, clauses } of searches) {
      const sort = [{ by: { kind: 'updated' as const }, isDescending: !isOldestFirst }];
      const query = { type, clauses, sort, count, ...(position === undefined ? {} : { position }) };
      const { statement, values } = compilePlaces(query, this.frequencies);
      places.push(...(await this.statements.run<Place>(statement, values)));
    }
    return places;
  }

  private async total(
    searches: readonly TypeSearch[],
    { total, count }: TypesSearchRequest,
  ): Promise<number | undefined> {
    if (total === 'none' && count > 0) return undefined;
    let sum = 0;
    for (const { type, clauses } of searches) {
      const { statement, values } = compileTotal({ type, clauses }, this.frequencies);
      sum += (await this.statements.runOne<{ total: number }>(statement, values))?.total ?? 0;
    }
    return sum;
  }

  /** What was deleted since it was found is left out, and what the caller may not see any more. */
  private async rows(places: readonly Place[], limit: RowLimit | undefined): Promise<readonly ResourceRow[]> {
    if (places.length === 0) return [];
    const keys = places.map((place) => place.resource_key);
    const { statement, values } =
      limit === undefined ? { statement: BODIES, values: [keys] } : bodiesWithin(limit, keys);
    return this.statements.run<ResourceRow>(statement, values);
  }
}

function bodiesWithin(limit: RowLimit, keys: readonly number[]): CompiledSearch {
  const bind = new Binder();
  bind.value(keys);
  return bind.finish(bodiesIf(limit.testOfAny(bind)));
}
