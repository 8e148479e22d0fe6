import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { readSubset } from '../../fhir/subset/read-subset';
import { rootUrlOf } from '../../fhir/edge/root-url';
import { Environment } from '../../platform/config/environment';
import { Statements } from '../../platform/database/statements';
import { TimeLimit } from '../../platform/database/time-limit';
import { ServiceError } from '../../platform/errors/service-error';
import { isLenient } from '../../platform/http/known-parameters';
import { RowLimits } from '../../resource/rows/row-limits';
import { unfinishedWarning } from '../../search-index/unfinished-index';
import { type OpenScope, SearchScopes } from '../../search/parse/search-scopes';
import { asksForTotal } from '../../search/query/result-parameters';
import { type SearchClause, type SearchQuery } from '../../search/query/search-query';
import { type ReadSearch, readSearch } from '../../search/run/read-search';
import { ResourceSearch, type SearchPage, type SearchRequest } from '../../search/run/resource-search';
import { namedTypesOf, readTypesSearch } from '../../search/types/read-types-search';
import { TypesSearch } from '../../search/types/types-search';
import { LateTexts } from '../../store/late-texts';
import { locationDistance } from './location-distance';
import { searchAnswer, type SearchPresentation } from './search-answer';

/** The part of a search that its path gives, in addition to the query. */
export interface SearchTarget {
  readonly type: string;
  readonly path: string;
  /** Clauses that the path adds to those of the query, as the path of a compartment does. */
  readonly clauses: readonly SearchClause[];
}

/** The requested shape of a page. `page` and `explain` are missing, since only a search of one type has them. */
type AskedShape = Omit<ReadSearch, keyof SearchQuery> & Pick<SearchQuery, 'count' | 'position'>;

/** The type whose parameters are used if no resource is stored: a search over types has only shared parameters. */
const SOME_TYPE = 'Basic';

/** Answers the searches of all routes: reads the query, runs the search and makes the Bundle. */
@Injectable()
export class SearchRequests {
  constructor(
    private readonly scopes: SearchScopes,
    private readonly search: ResourceSearch,
    private readonly typesSearch: TypesSearch,
    private readonly texts: LateTexts,
    private readonly limits: RowLimits,
    private readonly statements: Statements,
    private readonly environment: Environment,
  ) {}

  /**
   * Answers a search of one type.
   * @throws ServiceError 'invalid' naming an unknown or malformed parameter
   */
  async answer(request: Request, query: URLSearchParams, { type, path, clauses }: SearchTarget): Promise<FhirAnswer> {
    const scope = await this.scopeOf(request);
    const asked = readSearch(query, { type, ...scope }, this.environment.searchTimeoutMaxSeconds);
    const reach = await this.limits.reach();
    const place = { path, extension: locationDistance(asked.clauses) };
    return this.answerTo(request, query, { ...asked, ...place, types: [type] }, scope, (shape) =>
      this.search.search({ ...asked, ...shape, reach, clauses: [...clauses, ...asked.clauses] }),
    );
  }

  /**
   * Answers a search over types.
   * @throws ServiceError 'invalid' if the search has no parameters, or naming a parameter that is malformed or that one
   *   of the types does not have
   */
  async answerOverTypes(request: Request, query: URLSearchParams): Promise<FhirAnswer> {
    if (![...query.values()].some((value) => value !== '')) throw nothingAsked();
    const scope = await this.scopeOf(request);
    const named = namedTypesOf(query, scope.parameters);
    const reach = await this.limits.reach();
    const searched = named ?? reach.rows?.types ?? (await this.typesSearch.storedTypes());
    const asked = readTypesSearch(
      query,
      { searched: searched.length === 0 ? [SOME_TYPE] : searched, isNamed: named !== undefined },
      scope,
      this.environment.searchTimeoutMaxSeconds,
    );
    return this.answerTo(request, query, { ...asked, path: '', types: searched }, scope, (shape) =>
      this.typesSearch.search({ ...asked, ...shape, reach }),
    );
  }

  private scopeOf(request: Request): Promise<OpenScope> {
    return this.scopes.current(isLenient(request.get('prefer')));
  }

  private async answerTo(
    request: Request,
    query: URLSearchParams,
    asked: AskedShape & Pick<SearchPresentation, 'path' | 'extension'> & { readonly types: readonly string[] },
    { incomplete, parameters }: OpenScope,
    find: (shape: Pick<SearchRequest, 'count' | 'total'>) => Promise<SearchPage>,
  ): Promise<FhirAnswer> {
    const types = (asked.includes ?? []).length === 0 ? asked.types : [];
    const subset = readSubset(query, { types, prefer: request.get('prefer') });
    const { path, used, isArray, position, page: number, extension } = asked;
    const count = subset === 'count' ? 0 : asked.count;
    if (isArray && (count === 0 || asked.explain !== undefined || asksForTotal(query))) throw noPlaceForTotals();
    // An array has no member for the total. Only a numbered link to the last page needs it.
    const total = isArray && number === undefined ? 'none' : asked.total;
    const page = await this.statements.within(this.limitOf(asked.timeoutSeconds), () => find({ count, total }));
    const warnings = [...incomplete].map((parameter) => unfinishedWarning(parameter, parameters));
    const place = { rootUrl: rootUrlOf(request, this.environment), path, used, count, position, page: number };
    return searchAnswer(page, { subset, isArray, extension, ...place }, this.texts, warnings);
  }

  /**
   * One time limit for page, total and includes together. If the client requests none, it is the limit of one
   * statement.
   */
  private limitOf(asked: number | undefined): TimeLimit {
    const seconds = asked ?? this.environment.statementTimeoutSeconds;
    const message = `The search took longer than ${seconds} s. Ask with a larger _timeout, or for less: fewer matches, a smaller _count, _total=none.`;
    return new TimeLimit(seconds, message, asked === undefined);
  }
}

/** The error for a search over types without parameters. Its caller hardly wants a page of everything. */
const nothingAsked = (): ServiceError =>
  new ServiceError(
    'invalid',
    'A search over types needs a parameter, such as _type=Patient,Observation or _lastUpdated=gt2026-01-31.',
  );

const noPlaceForTotals = (): ServiceError =>
  new ServiceError(
    'parameters-exclusive',
    '_result=array has no place for a total or a plan: leave _total and _explain out, or ask for a Bundle.',
  );
