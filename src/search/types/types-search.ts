import { Injectable } from '@nestjs/common';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { fittingRows } from '../../store/late-texts';
import { type Reach } from '../rows/reach';
import { type RowLimit } from '../rows/row-limit';
import { ClauseResolver } from '../run/clause-resolver';
import { Binder } from '../../store/binder';
import { compilePlaces, compileTotal } from '../compile/compile-search';
import { foundColumns, foundResourceOf, type FoundRow } from '../compile/found-resource';
import { IncludedResources } from '../include/included-resources';
import { type Include } from '../include/read-includes';
import { neighboursOf, type PlacedRow, type SearchPage } from '../run/resource-search';
import { type TotalMode } from '../query/result-parameters';
import { RowFrequencies } from '../run/row-frequencies';
import { type PagePosition, type SearchQuery } from '../query/search-query';

/** A search over several types. Each type has its own clauses, since its parameters have their own index rows. */
export interface TypesSearchRequest {
  readonly searches: readonly TypeSearch[];
  /** Whether the oldest update comes first; otherwise the newest. */
  readonly isOldestFirst: boolean;
  readonly count: number;
  readonly total: TotalMode;
  readonly position?: PagePosition;
  readonly includes: readonly Include[];
  /** Rows that the caller may see; absent if all. */
  readonly reach?: Reach | undefined;
}

type TypeSearch = Pick<SearchQuery, 'type' | 'clauses'>;

/** A match, with its place in the order of the answer. */
interface Place extends PlacedRow {
  readonly s0: Date;
}

/** Finds the types that have resources. Each type costs one index step, however many resources it has. */
export const STORED_TYPES: Statement = {
  name: 'search-stored-types',
  text: `with recursive t as ((select type from resource order by type limit 1)
    union all select (select r.type from resource r where r.type > t.type order by r.type limit 1) from t where t.type is not null)
    select type from t where type is not null`,
};

/** Statement that reads the bodies of the rows with keys $1 that pass a test on alias `c`. */
const bodiesIf = (test: string): string =>
  `select ${foundColumns('c', 'order by k.place')} from unnest($1::bigint[]) with ordinality k(resource_key, place)
    cross join lateral (select * from resource r where r.resource_key = k.resource_key limit 1) c where ${test} order by k.place`;

/**
 * Finds resources of several types in the order of their last update. For each type it runs the statement of a search,
 * which ends after a page, and then merges the pages. So the cost is the sum over the types, and no index across types
 * is needed.
 */
@Injectable()
export class TypesSearch {
  constructor(
    private readonly statements: Statements,
    private readonly resolver: ClauseResolver,
    private readonly frequencies: RowFrequencies,
    private readonly includedResources: IncludedResources,
  ) {}

  /** Types with stored resources; they are few of all known types. */
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

  /** For each type, the matches that a page could show and one more, without their bodies. */
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

  /**
   * Reads the resources of a page. Those that were deleted in the meantime, or that the caller may no longer see, are
   * left out.
   */
  private async rows(places: readonly Place[], limit: RowLimit | undefined): Promise<readonly FoundRow[]> {
    if (places.length === 0) return [];
    const bind = new Binder();
    bind.value(places.map((place) => place.resource_key));
    const { statement, values } = bind.finish(bodiesIf(limit === undefined ? 'true' : limit.testOfAny(bind)));
    return this.statements.run<FoundRow>(statement, values);
  }
}
