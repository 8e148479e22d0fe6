import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { Statements } from '../../platform/database/statements';
import { TimeLimit } from '../../platform/database/time-limit';
import { LateTexts } from '../../store/late-texts';
import { type Reach } from '../rows/reach';
import { type ResourceText } from '../../model/stored-resource';
import { holdsTexts } from './holds-texts';
import { criteriaQuery } from '../parse/criteria-query';
import { parseSearch } from '../parse/parse-search';
import { SearchScopes } from '../parse/search-scopes';
import { ResourceSearch, type SearchPage, type SearchRequest } from './resource-search';
import { type SearchClause } from '../query/search-query';
import { unfinishedIndex } from '../../search-index/unfinished-index';

/**
 * How many resources are read in addition to those requested, because some may match only by a collision of hashes.
 * Even one collision is rare; several at once are no accident.
 */
const SPARE = 4;

/**
 * Finds the resources that match search parameters, as a conditional write does
 * (http://hl7.org/fhir/R4/http.html#ccreate). It checks no access rights.
 * @example
 * const orders = await criteria.find('ServiceRequest', 'subject=Patient/p7&status=active', 100);
 */
@Injectable()
export class ResourceCriteria {
  /** @internal */
  constructor(
    private readonly scopes: SearchScopes,
    private readonly search: ResourceSearch,
    private readonly statements: Statements,
    private readonly texts: LateTexts,
    private readonly environment: Environment,
  ) {}

  /**
   * Finds up to `most` resources, in the open unit of work if there is one. All of them are in memory at once, so ask
   * for some hundred at most. Index rows hold hashes, so the bodies of the found resources are tested too: a collision
   * of hashes never matches.
   * @param criteria a query such as `identifier=http://a|1&active=true`; may begin with `?` or `Patient?`. Escape
   *   values by `encodeURIComponent`.
   * @param most ask for one more than you use, to notice that there are more
   * @throws ServiceError 'invalid' if the criteria are empty, or a parameter is unknown, has no value or shapes
   *   answers; 'busy' for a parameter whose index is incomplete
   */
  async find(type: string, criteria: string, most: number): Promise<ResourceText[]> {
    return this.findWithin(undefined, type, criteria, most);
  }

  /**
   * As {@link find}, among the rows that the caller may see; undefined means all.
   * @param isBrief whether the texts are dropped before the next call. Then one page is enough, which has fewer of them
   *   if they are long
   * @internal
   */
  async findWithin(
    reach: Reach | undefined,
    type: string,
    criteria: string,
    most = 2,
    isBrief = false,
  ): Promise<ResourceText[]> {
    const { clauses, isHit } = await this.read(type, criteria);
    const request: SearchRequest = { type, clauses, count: most + SPARE, total: 'none', reach };
    const found: ResourceText[] = [];
    for (let page = await this.searched(request); ;) {
      for (const { type: t, id, text = '' } of await this.texts.all(page.resources, isBrief))
        if (isHit(text)) found.push({ type: t, id, text });
      // A page of long texts ends early, so further matches may follow it.
      if (found.length >= (isBrief ? 1 : most) || !page.isShort || page.next === undefined) return found.slice(0, most);
      page = await this.searched({ ...request, position: page.next });
    }
  }

  /**
   * Whether more than `most` resources match. They are only counted and not read; a few of them may be collisions of
   * hashes, so a few more are allowed.
   * @throws ServiceError as {@link find}
   * @internal
   */
  async findsMoreThan(most: number, type: string, criteria: string, reach?: Reach): Promise<boolean> {
    const { clauses } = await this.read(type, criteria);
    const { total = 0 } = await this.searched({ type, clauses, count: 0, total: 'accurate', reach });
    return total > most + SPARE;
  }

  /** Runs criteria under the concurrency limit of searches, since they may cost as much as a search. */
  private searched(request: SearchRequest): Promise<SearchPage> {
    const seconds = this.environment.statementTimeoutSeconds;
    const limit = new TimeLimit(seconds, `The criteria took longer than ${seconds} s. Name narrower ones.`, true);
    return this.statements.within(limit, () => this.search.search(request));
  }

  private async read(
    type: string,
    criteria: string,
  ): Promise<{ readonly clauses: readonly SearchClause[]; readonly isHit: (text: string) => boolean }> {
    const query = criteriaQuery(type, criteria);
    const scope = await this.scopes.current();
    const { clauses } = parseSearch(query, { type, ...scope });
    const { parameters } = scope;
    const [unfinished] = scope.incomplete;
    // An incomplete index may miss a stored resource; a conditional create would then store a duplicate.
    if (unfinished !== undefined) throw unfinishedIndex(unfinished, parameters);
    return { clauses, isHit: holdsTexts(query, (code) => parameters.find(type, code)) };
  }
}
