import { Injectable } from '@nestjs/common';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { batchesOf, fittingRows, LateTexts } from '../../store/late-texts';
import { type Reach } from '../rows/reach';
import { ClauseResolver } from '../run/clause-resolver';
import { compilePlaces, compileTotal } from '../compile/compile-search';
import { foundResourceOf, type FoundRow } from '../compile/found-resource';
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

/** A match without its text, with its place in the order of the answer. */
type Place = FoundRow & PlacedRow & { readonly s0: Date };

/** Finds the types that have resources. Each type costs one index step, however many resources it has. */
export const STORED_TYPES: Statement = {
  name: 'search-stored-types',
  text: `with recursive t as ((select type from resource order by type limit 1)
    union all select (select r.type from resource r where r.type > t.type order by r.type limit 1) from t where t.type is not null)
    select type from t where type is not null`,
};

/**
 * Finds resources of several types in the order of their last update. For each type it runs the statement of a search,
 * which ends after a page, and then merges the pages. So the cost is the sum over the types, and no index across types
 * is needed. Texts after the first ones are read while the answer is sent (`LateTexts`).
 */
@Injectable()
export class TypesSearch {
  constructor(
    private readonly statements: Statements,
    private readonly resolver: ClauseResolver,
    private readonly frequencies: RowFrequencies,
    private readonly includedResources: IncludedResources,
    private readonly texts: LateTexts,
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
    const fitting = fittingRows(places.slice(0, count));
    const hasMore = places.length > fitting.length;
    const page = isReversed ? fitting.toReversed() : fitting;
    const isWhole = position === undefined && !hasMore && count > 0;
    const total = isWhole ? page.length : await this.total(searches, request);
    const listed = page.map(foundResourceOf);
    // A short page is sent at once, so its texts are read before it is answered.
    const [first = []] = batchesOf(listed);
    const resources = [...(await this.texts.all(first)), ...listed.slice(first.length)];
    const { resources: included, ...rest } = await this.includedResources.of(resources, request.includes, reach);
    return {
      resources,
      included,
      ...rest,
      hasMore,
      isShort: hasMore && page.length < count,
      ...(total === undefined ? {} : { total }),
      ...neighboursOf(page, { isReversed, terms: [{ cast: 'timestamptz' }] }, hasMore, position),
    };
  }

  /** For each type, the matches that a page could show and one more. */
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
}
