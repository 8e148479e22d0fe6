import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { type ServiceError } from '../../platform/errors/service-error';
import { Clock } from '../../platform/time/clock';
import { ResourceTypes } from '../../model/resource-types';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { parseSearch } from '../parse/parse-search';
import { criteriaQuery } from '../parse/criteria-query';
import { SearchIndex } from '../../search-index/search-index';
import { unfinishedIndex } from '../../search-index/unfinished-index';
import { assertExactClauses, assertExactNames } from './exact-criteria';
import { type RowCriterion } from './row-limit';

/** Filled criteria that are kept, some for each caller, and how long one may be. */
const MAX_KNOWN = 1_000;
const LONGEST_KNOWN = 2_000;

export type ReadCriterion = (criterion: string) => RowCriterion;

/** The type of `Type` or `Type?query`. */
export const typeOfCriterion = (criterion: string): string => criterion.split('?', 1)[0] ?? '';

/** Reads the row criteria that policies grant (`GrantedRows`). */
@Injectable()
export class RowCriteria {
  /** Criteria as they were read by the parameters in force: a policy brings the same ones with each request. */
  private known = new Map<string, RowCriterion>();
  private readBy: SearchParameterSet | undefined;

  constructor(
    private readonly types: ResourceTypes,
    private readonly index: SearchIndex,
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads criteria by the parameters that are in force now: `Type`, or `Type?query` with every value filled in.
   * @throws ServiceError 'not-found' for an unknown type; 'invalid' for a parameter that is unknown or malformed, that
   * shapes answers, or that finds by similarity
   */
  async reader(): Promise<ReadCriterion> {
    const { parameters } = await this.index.current();
    if (parameters !== this.readBy) this.known = new Map();
    this.readBy = parameters;
    const { known } = this;
    return (criterion) => {
      const read = known.get(criterion) ?? this.parse(criterion, parameters);
      if (known.size >= MAX_KNOWN) known.clear();
      // `ap` means another span at another time.
      if (criterion.length <= LONGEST_KNOWN && !/ap-?\d/.test(criterion)) known.set(criterion, read);
      return read;
    };
  }

  private parse(criterion: string, parameters: SearchParameterSet): RowCriterion {
    const type = typeOfCriterion(criterion);
    const criteria = criterion.includes('?') ? criterion.slice(type.length + 1) : undefined;
    this.types.assertKnown(type);
    if (criteria === undefined) return { type, clauses: [] };
    const query = criteriaQuery(type, criteria);
    assertExactNames(query);
    const incomplete = new Set<SearchParameter>();
    const incompleteElsewhere = new Set<SearchParameter>();
    const parsed = parseSearch(query, {
      type,
      parameters,
      hashes: this.index.hashes,
      incomplete,
      incompleteElsewhere,
      baseUrl: this.environment.baseUrl,
      now: this.clock.now().getTime(),
      isLenient: false,
    });
    assertExactClauses(parsed);
    // A chain whose index is being built may find too little or, in a negation, too much.
    const [elsewhere] = incompleteElsewhere;
    const [unfinished = elsewhere] = incomplete;
    if (unfinished === undefined) return { type, clauses: parsed.clauses };
    const isOfOthers = elsewhere !== undefined;
    const refusal = (): ServiceError => unfinishedIndex(elsewhere ?? unfinished, parameters);
    return { type, clauses: parsed.clauses, unfinished: { refusal, isOfOthers } };
  }
}
