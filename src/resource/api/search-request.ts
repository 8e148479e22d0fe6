import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { type FhirAnswer } from '../../fhir/fhir-answer';
import { readSubset } from '../../fhir/read-subset';
import { rootUrlOf } from '../../fhir/root-url';
import { Environment } from '../../platform/config/environment';
import { Statements } from '../../platform/database/statements';
import { TimeLimit } from '../../platform/database/time-limit';
import { ServiceError } from '../../platform/errors/service-error';
import { Clock } from '../../platform/time/clock';
import { type SearchParameter } from '../search/extract/search-parameter';
import { IncompleteIndexes } from '../search/live/incomplete-indexes';
import { readSearch } from '../search/read-search';
import { ResourceSearch } from '../search/resource-search';
import { isLenient } from '../search/result-parameters';
import { SearchIndex } from '../search/search-index';
import { type SearchClause } from '../search/search-query';
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
      incomplete,
      baseUrl: this.environment.baseUrl,
      now: this.clock.now().getTime(),
      isLenient: isLenient(request.get('prefer')),
    };
    const { used, ...asked } = readSearch(query, scope, this.environment.searchTimeoutMaxSeconds);
    const { isArray, page: number, position } = asked;
    const count = subset === 'count' ? 0 : asked.count;
    if (isArray && (count === 0 || asked.isExplained === true))
      throw new ServiceError('invalid', '_result=array has no place for a total alone, or for a plan.');
    const page = await this.statements.within(this.limitOf(asked.timeoutSeconds), () =>
      this.search.search({
        ...asked,
        clauses: [...clauses, ...asked.clauses],
        count,
        // Of an array nobody sees the total, but for the number of the last page.
        ...(isArray && number === undefined ? { total: 'none' } : {}),
      }),
    );
    const warnings = await this.incompleteIndexes.warningsOf([...incomplete]);
    const rootUrl = rootUrlOf(request, this.environment);
    return searchAnswer(page, { rootUrl, path, used, count, subset, isArray, position, page: number }, warnings);
  }

  /** Page, total and includes have it together; when nothing is asked, as long as one statement may take. */
  private limitOf(asked: number | undefined): TimeLimit {
    const seconds = asked ?? this.environment.statementTimeoutSeconds;
    const message = `The search took longer than ${seconds} s. Ask with a larger _timeout, or for less: fewer matches, a smaller _count, _total=none.`;
    return new TimeLimit(seconds, message, asked === undefined);
  }
}
