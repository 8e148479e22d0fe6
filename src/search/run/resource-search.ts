import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { limitedToRows } from '../../platform/request/request-context';
import { SearchIndex } from '../../search-index/search-index';
import { fittingRows } from '../../store/late-texts';
import { type Reach } from '../rows/reach';
import { ClauseResolver } from './clause-resolver';
import { explanationOf, type SearchExplanation } from './explain-advice';
import { type ExplainOptions } from '../query/explain-options';
import { type BoundStatement } from '../../store/binder';
import { type CompiledPage, compilePage, compileTotal } from '../compile/compile-search';
import { type FoundResource, foundResourceOf, type FoundRow } from '../compile/found-resource';
import { IncludedResources } from '../include/included-resources';
import { type Include } from '../include/read-includes';
import { type TotalMode } from '../query/result-parameters';
import { namedParameters } from './named-parameters';
import { RowFrequencies } from './row-frequencies';
import { type PagePosition, type SearchQuery } from '../query/search-query';

export interface SearchRequest extends SearchQuery {
  readonly total: TotalMode;
  readonly includes?: readonly Include[];
  readonly explain?: ExplainOptions;
  /** Rows that the caller may see; absent if all. */
  readonly reach?: Reach | undefined;
}

export interface SearchPage {
  readonly resources: readonly FoundResource[];
  readonly included: readonly FoundResource[];
  readonly isComplete: boolean;
  /** Types to which the includes lead, but which the caller may not search. */
  readonly hiddenTypes: readonly string[];
  /** Number of all matches; absent if not requested. */
  readonly total?: number;
  /** Positions of the next and the previous page; absent at the ends. */
  readonly next?: PagePosition;
  readonly previous?: PagePosition;
  readonly hasMore: boolean;
  /** Whether the page has fewer matches than requested, because they are long. */
  readonly isShort: boolean;
  readonly explanation?: SearchExplanation;
}

/** A row with its sort values in columns `s0`, `s1` … */
export interface PlacedRow {
  readonly resource_key: number;
  readonly [column: string]: unknown;
}

type PageRow = FoundRow & PlacedRow & { readonly total?: number | null };

@Injectable()
export class ResourceSearch {
  constructor(
    private readonly statements: Statements,
    private readonly resolver: ClauseResolver,
    private readonly frequencies: RowFrequencies,
    private readonly includedResources: IncludedResources,
    private readonly index: SearchIndex,
  ) {}

  /** @throws ServiceError 'forbidden' for clauses that lead to types that the caller may not search */
  async search(request: SearchRequest): Promise<SearchPage> {
    this.frequencies.refresh();
    const { type, reach } = request;
    const asked = (await reach?.narrow(type, request.clauses)) ?? request.clauses;
    // A query plan would count rows that the caller may not see, so it is refused.
    if (request.explain !== undefined && (await reach?.isLimited(type)) === true) throw limitedToRows();
    const isCounted = request.total !== 'none' && request.count > 0;
    const clauses = await this.resolver.resolveAll(asked);
    const query = { isCounted, ...request, clauses };
    const compiled = compilePage(query, this.frequencies);
    const rows = query.count === 0 ? [] : await this.statements.run<PageRow>(compiled.statement, compiled.values);
    const fitting = fittingRows(rows.slice(0, query.count));
    const hasMore = rows.length > fitting.length;
    const page = compiled.isReversed ? fitting.toReversed() : fitting;
    const { offset = 0 } = query;
    const isLast = query.position === undefined && !hasMore && query.count > 0 && (page.length > 0 || offset === 0);
    const total =
      isLast && (offset === 0 || query.total !== 'none')
        ? offset + page.length
        : (rows[0]?.total ?? (await this.total(query)));
    const resources = page.map(foundResourceOf);
    const { resources: included, ...rest } = await this.includedResources.of(resources, query.includes ?? [], reach);
    return {
      resources,
      included,
      ...rest,
      hasMore,
      isShort: hasMore && page.length < query.count,
      ...(total === undefined ? {} : { total }),
      ...neighboursOf(page, compiled, hasMore, query.position),
      ...(query.explain === undefined ? {} : { explanation: await this.explain(compiled, query, query.explain) }),
    };
  }

  private async total(query: SearchRequest): Promise<number | undefined> {
    if (query.total === 'none' && query.count > 0) return undefined;
    const { statement, values } = compileTotal(query, this.frequencies);
    return (await this.statements.runOne<{ total: number }>(statement, values))?.total ?? 0;
  }

  /** Runs the statement again with EXPLAIN, under the same limits. */
  private async explain(
    compiled: BoundStatement,
    query: SearchQuery,
    options: ExplainOptions,
  ): Promise<SearchExplanation> {
    const { statement, values } = compiled;
    const text = `explain (${options.sql}) ${statement.text}`;
    const lines = await this.statements.run<{ 'QUERY PLAN': string }>({ name: '', text }, values);
    const { parameters } = await this.index.current();
    const named = namedParameters(query, (type) => parameters.list(type));
    return explanationOf(compiled, lines, options, query.clauses, named);
  }
}

/**
 * The positions of the neighbors of a page. A page that was reached by a link has a neighbor on the side of that link.
 * On the other side, the extra row shows whether there is one.
 */
export function neighboursOf(
  page: readonly PlacedRow[],
  { isReversed, terms }: Pick<CompiledPage, 'isReversed' | 'terms'>,
  hasMore: boolean,
  position: PagePosition | undefined,
): Pick<SearchPage, 'next' | 'previous'> {
  const [first, last] = [page.at(0), page.at(-1)];
  const hasNext = isReversed || hasMore;
  const hasPrevious = isReversed ? hasMore : position !== undefined;
  const at = (side: PagePosition['side'], row: PlacedRow): PagePosition => ({
    side,
    key: row.resource_key,
    values: terms.map(({ cast }, index) => positionValueOf(row[`s${index}`], cast)),
  });
  return {
    ...(hasNext && last !== undefined ? { next: at('after', last) } : {}),
    ...(hasPrevious && first !== undefined ? { previous: at('before', first) } : {}),
  };
}

function positionValueOf(value: unknown, cast: CompiledPage['terms'][number]['cast']): string | number | null {
  if (cast === 'timestamptz') return value instanceof Date ? value.getTime() : null;
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}
