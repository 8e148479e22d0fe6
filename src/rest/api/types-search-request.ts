import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { readSubset } from '../../fhir/subset/read-subset';
import { rootUrlOf } from '../../fhir/edge/root-url';
import { Environment } from '../../platform/config/environment';
import { Statements } from '../../platform/database/statements';
import { ServiceError } from '../../platform/errors/service-error';
import { Clock } from '../../platform/time/clock';
import { ResourceTypes } from '../../model/resource-types';
import { LateTexts } from '../../store/late-texts';
import { RowLimits } from '../../resource/rows/row-limits';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { IncompleteIndexes } from '../../search-index/states/incomplete-indexes';
import { isLenient } from '../../platform/http/known-parameters';

import { SearchIndex } from '../../search-index/search-index';
import { namedTypesOf, readTypesSearch } from '../../search/types/read-types-search';
import { TypesSearch } from '../../search/types/types-search';
import { asksForTotal } from '../../search/query/result-parameters';
import { noPlaceForTotals, searchAnswer } from './search-answer';
import { searchLimit } from './search-limit';

/** A type that any common parameter can be checked against when nothing is stored. */
const SOME_TYPE = 'Basic';

/** A search over types from its query to its Bundle. */
@Injectable()
export class TypesSearchRequests {
  constructor(
    private readonly types: ResourceTypes,
    private readonly index: SearchIndex,
    private readonly search: TypesSearch,
    private readonly texts: LateTexts,
    private readonly limits: RowLimits,
    private readonly statements: Statements,
    private readonly incompleteIndexes: IncompleteIndexes,
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  /** @throws ServiceError 'invalid' for no parameter at all, and naming one that is not common to the types or malformed */
  async answer(request: Request, query: URLSearchParams): Promise<FhirAnswer> {
    if (![...query.values()].some((value) => value !== '')) throw nothingAsked();
    const subset = readSubset(query);
    const named = namedTypesOf(query, this.types.names());
    const reach = await this.limits.reach();
    const searched = named ?? reach.rows?.types ?? (await this.search.storedTypes());
    const incomplete = new Set<SearchParameter>();
    const { parameters } = await this.index.current();
    const common = {
      parameters,
      hashes: this.index.hashes,
      incomplete,
      baseUrl: this.environment.baseUrl,
      now: this.clock.now().getTime(),
      isLenient: isLenient(request.get('prefer')),
    };
    const { used, ...asked } = readTypesSearch(
      query,
      { searched: searched.length === 0 ? [SOME_TYPE] : searched, isNamed: named !== undefined },
      (type) => ({ type, ...common }),
      this.environment.searchTimeoutMaxSeconds,
    );
    const { isArray, position } = asked;
    const count = subset === 'count' ? 0 : asked.count;
    if (isArray && (count === 0 || asksForTotal(query))) throw noPlaceForTotals();
    const page = await this.statements.within(searchLimit(asked.timeoutSeconds, this.environment), () =>
      this.search.search({ ...asked, reach, count, ...(isArray ? { total: 'none' } : {}) }),
    );
    const warnings = await this.incompleteIndexes.warningsOf([...incomplete]);
    const rootUrl = rootUrlOf(request, this.environment);
    const place = { rootUrl, path: '', used, count, position, page: undefined };
    return searchAnswer(page, { ...place, subset, isArray }, this.texts, warnings);
  }
}

/** A page of everything is hardly what anybody wants who calls the bare root. */
const nothingAsked = (): ServiceError =>
  new ServiceError(
    'invalid',
    'A search over types needs a parameter, such as _type=Patient,Observation or _lastUpdated=gt2026-01-31.',
  );
