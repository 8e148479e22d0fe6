import { Injectable } from '@nestjs/common';
import { type ServiceError } from '../../platform/errors/service-error';
import { memoized } from '../../platform/memoized';
import { ResourceTypes } from '../../model/resource-types';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { parseSearch } from '../parse/parse-search';
import { SearchScopes } from '../parse/search-scopes';
import { criteriaQuery } from '../parse/criteria-query';
import { SearchIndex } from '../../search-index/search-index';
import { unfinishedIndex } from '../../search-index/unfinished-index';
import { assertExactClauses, assertExactDots, assertExactNames } from './exact-criteria';
import { parameterValues } from './parameter-values';
import { type RowCriterion } from './row-limit';

/**
 * Bounds of the cache: the maximum number of criteria with their values filled in (there are some for each caller), and
 * the maximum length of one.
 */
const MAX_KNOWN = 1_000;
const LONGEST_KNOWN = 2_000;

export type ReadCriterion = (criterion: string) => RowCriterion;

/** The type of a criterion, which is `Type` or `Type?query`. */
export const typeOfCriterion = (criterion: string): string => criterion.split('?', 1)[0] ?? '';

/** Reads row criteria: searches such as `Observation?status=final` by which policies grant rows (`GrantedRows`). */
@Injectable()
export class RowCriteria {
  /** Parses and caches criteria by some parameters; policies send the same criteria with each request. */
  private cached: { readonly parameters: SearchParameterSet; readonly read: ReadCriterion } | undefined;

  constructor(
    private readonly types: ResourceTypes,
    private readonly index: SearchIndex,
    private readonly scopes: SearchScopes,
  ) {}

  /**
   * Returns a reader of criteria by the current search parameters. It reads `Type`, or `Type?query` in which each
   * variable is replaced by its value.
   * @throws ServiceError 'not-found' for an unknown type; 'invalid' for a parameter that is unknown or malformed, that
   *   shapes answers, or that matches by similarity
   */
  async reader(): Promise<ReadCriterion> {
    const { parameters } = await this.index.current();
    if (this.cached?.parameters !== parameters)
      this.cached = { parameters, read: memoized((criterion) => this.parse(criterion, parameters), MAX_KNOWN) };
    const { read } = this.cached;
    // Criteria with `ap` are not cached, since the time that they mean depends on the present time.
    return (criterion) =>
      criterion.length <= LONGEST_KNOWN && !/ap-?\d/.test(criterion)
        ? read(criterion)
        : this.parse(criterion, parameters);
  }

  /**
   * Refuses dot expressions that compare parts of texts, in the name of a parameter. Only new criteria are checked, and
   * not by {@link reader}: earlier releases stored such criteria, which keep their meaning until they are stored again.
   * @throws ServiceError 'invalid' naming the parameter
   */
  assertExactDots(name: string): void {
    assertExactDots(name);
  }

  /**
   * The values that a resource has for a parameter such as `organization`, for explanations. Undefined for chains and
   * modifiers, and for values that have no text.
   */
  async valuesOf(type: string, name: string, resource: unknown): Promise<readonly string[] | undefined> {
    const parameter = (await this.index.current()).parameters.find(type, name);
    return parameter === undefined ? undefined : parameterValues(parameter, resource);
  }

  private parse(criterion: string, parameters: SearchParameterSet): RowCriterion {
    const type = typeOfCriterion(criterion);
    const criteria = criterion.includes('?') ? criterion.slice(type.length + 1) : undefined;
    this.types.assertKnown(type);
    if (criteria === undefined) return { type, clauses: [] };
    const query = criteriaQuery(type, criteria);
    assertExactNames(query);
    const incompleteElsewhere = new Set<SearchParameter>();
    const scope = this.scopes.by(parameters);
    const parsed = parseSearch(query, { type, incompleteElsewhere, ...scope });
    assertExactClauses(parsed);
    // While the index of a linked type is being built, a chain may find too few rows. In a negation it may find too
    // many.
    const [elsewhere] = incompleteElsewhere;
    const [unfinished = elsewhere] = scope.incomplete;
    if (unfinished === undefined) return { type, clauses: parsed.clauses };
    const isOfOthers = elsewhere !== undefined;
    const refusal = (): ServiceError => unfinishedIndex(elsewhere ?? unfinished, parameters);
    return { type, clauses: parsed.clauses, unfinished: { refusal, isOfOthers } };
  }
}
