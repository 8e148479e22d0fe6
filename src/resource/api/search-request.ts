import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { type FhirAnswer } from '../../fhir/fhir-answer';
import { readSubset } from '../../fhir/read-subset';
import { rootUrlOf } from '../../fhir/root-url';
import { Environment } from '../../platform/config/environment';
import { Clock } from '../../platform/time/clock';
import { type SearchParameter } from '../search/extract/search-parameter';
import { IncompleteIndexes } from '../search/live/incomplete-indexes';
import { readSearch } from '../search/read-search';
import { ResourceSearch } from '../search/resource-search';
import { isLenient } from '../search/result-parameters';
import { SearchIndex } from '../search/search-index';
import { type SearchClause } from '../search/search-query';
import { locationDistance } from './location-distance';
import { searchAnswer } from './search-answer';

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
    private readonly incompleteIndexes: IncompleteIndexes,
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  /** @throws ServiceError 'invalid' naming the parameter that is unknown or malformed */
  async answer(request: Request, query: URLSearchParams, { type, path, clauses }: SearchTarget): Promise<FhirAnswer> {
    const subset = readSubset(query);
    const incomplete = new Set<SearchParameter>();
    const { used, ...asked } = readSearch(query, {
      type,
      parameters: (await this.index.current()).parameters,
      incomplete,
      baseUrl: this.environment.baseUrl,
      now: this.clock.now().getTime(),
      isLenient: isLenient(request.get('prefer')),
    });
    const page = await this.search.search({
      ...asked,
      clauses: [...clauses, ...asked.clauses],
      ...(subset === 'count' ? { count: 0 } : {}),
    });
    const warnings = await this.incompleteIndexes.warningsOf([...incomplete]);
    const rootUrl = rootUrlOf(request, this.environment);
    return {
      status: 200,
      text: searchAnswer(
        page,
        { rootUrl, path, used, subset, position: asked.position, extension: locationDistance(asked.clauses) },
        warnings,
      ),
    };
  }
}
