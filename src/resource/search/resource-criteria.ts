import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';
import { type ResourceText } from '../stored-resource';
import { holdsTexts } from './holds-texts';
import { parseSearch } from './parse-search';
import { ResourceSearch, type SearchRequest } from './resource-search';
import { SearchIndex } from './search-index';

/** Parameters that shape an answer: in criteria they would look as if they narrowed the choice. */
const SHAPING =
  /^_(count|total|after|page|sort|include|revinclude|elements|summary|contained|containedType|explain|format|pretty|timeout)(:|$)/;

/** Finds what the criteria of a conditional write name (http://hl7.org/fhir/R4/http.html#ccreate). */
@Injectable()
export class ResourceCriteria {
  constructor(
    private readonly index: SearchIndex,
    private readonly search: ResourceSearch,
    private readonly environment: Environment,
  ) {}

  /**
   * Finds up to `limit` resources, in the open unit of work where there is one. Search rows hold hashes, so hits are checked
   * against their bodies: two values with one hash are not taken for each other.
   * @param criteria a query such as `identifier=http://a|1&active=true`; a `?` or `Patient?` before it is allowed
   * @throws ServiceError 'invalid' for no criteria, an unknown parameter, one without a value, or one that shapes answers.
   */
  async find(type: string, criteria: string, limit = 2): Promise<ResourceText[]> {
    const query = criteriaQuery(type, criteria);
    const { parameters } = this.index;
    const { baseUrl } = this.environment;
    const { clauses } = parseSearch(query, { type, parameters, baseUrl, isLenient: false });
    const isHit = holdsTexts(query, (code) => parameters.find(type, code)?.kind);
    const found: ResourceText[] = [];
    let request: SearchRequest | undefined = { type, clauses, count: limit, total: 'none' };
    while (request !== undefined && found.length < limit) {
      const { resources, next } = await this.search.search(request);
      found.push(...resources.filter(({ text }) => isHit(text)));
      request = next === undefined ? undefined : { ...request, after: next };
    }
    return found.slice(0, limit);
  }
}

/** Reads criteria as a query. @throws ServiceError 'invalid' as {@link ResourceCriteria.find} says. */
export function criteriaQuery(type: string, criteria: string): URLSearchParams {
  const query = new URLSearchParams(criteria.trim().replace(new RegExp(`^(${type})?\\?`), ''));
  if (query.size === 0) {
    throw new ServiceError('invalid', `Name criteria, such as ${type}?identifier=http://clinic.example/mrn|1.`);
  }
  for (const [name, value] of query) {
    const shown = name.slice(0, 64);
    if (SHAPING.test(name)) throw new ServiceError('invalid', `"${shown}" shapes answers; it cannot be a criterion.`);
    if (value.trim() === '') throw new ServiceError('invalid', `The criterion "${shown}" has no value.`);
  }
  return query;
}
