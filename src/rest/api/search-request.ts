import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { readSubset } from '../../fhir/subset/read-subset';
import { rootUrlOf } from '../../fhir/edge/root-url';
import { Environment } from '../../platform/config/environment';
import { Statements } from '../../platform/database/statements';
import { Clock } from '../../platform/time/clock';
import { LateTexts } from '../../store/late-texts';
import { RowLimits } from '../../resource/rows/row-limits';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { IncompleteIndexes } from '../../search-index/states/incomplete-indexes';
import { readSearch } from '../../search/run/read-search';
import { ResourceSearch } from '../../search/run/resource-search';
import { isLenient } from '../../platform/http/known-parameters';

import { SearchIndex } from '../../search-index/search-index';
import { type SearchClause } from '../../search/query/search-query';
import { locationDistance } from './location-distance';
import { asksForTotal } from '../../search/query/result-parameters';
import { noPlaceForTotals, searchAnswer } from './search-answer';
import { searchLimit } from './search-limit';

/** What is searched, beside what the query asks for. */
export interface SearchTarget {
  readonly type: string;
  /** Below the root, as the links repeat it. */
  readonly path: string;
  /** Clauses that the path stands for. */
  readonly clauses: readonly SearchClause[];
}

/** A search from its query to its Bundle, whatever route it came by. */
@Injectable()
export class SearchRequests {
  constructor(
    private readonly index: SearchIndex,
    private readonly search: ResourceSearch,
    private readonly texts: LateTexts,
    private readonly limits: RowLimits,
    private readonly statements: Statements,
    private readonly incompleteIndexes: IncompleteIndexes,
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  /** @throws ServiceError 'invalid' naming the parameter that is unknown or malformed */
  async answer(request: Request, query: URLSearchParams, { type, path, clauses }: SearchTarget): Promise<FhirAnswer> {
    const subset = readSubset(query);
    const incomplete = new Set<SearchParameter>();
    const scope = {
      type,
      parameters: (await this.index.current()).parameters,
      hashes: this.index.hashes,
      incomplete,
      baseUrl: this.environment.baseUrl,
      now: this.clock.now().getTime(),
      isLenient: isLenient(request.get('prefer')),
    };
    const { used, ...asked } = readSearch(query, scope, this.environment.searchTimeoutMaxSeconds);
    const reach = await this.limits.reach();
    const { isArray, page: number, position } = asked;
    const count = subset === 'count' ? 0 : asked.count;
    if (isArray && (count === 0 || asked.explain !== undefined || asksForTotal(query))) throw noPlaceForTotals();
    const page = await this.statements.within(searchLimit(asked.timeoutSeconds, this.environment), () =>
      this.search.search({
        ...asked,
        reach,
        clauses: [...clauses, ...asked.clauses],
        count,
        // Of an array nobody sees the total, but for the number of the last page.
        ...(isArray && number === undefined ? { total: 'none' } : {}),
      }),
    );
    const warnings = await this.incompleteIndexes.warningsOf([...incomplete]);
    const rootUrl = rootUrlOf(request, this.environment);
    const extension = locationDistance(asked.clauses);
    return searchAnswer(
      page,
      { rootUrl, path, used, count, subset, isArray, position, page: number, extension },
      this.texts,
      warnings,
    );
  }
}
