import { Injectable } from '@nestjs/common';
import { latestOf, parseCanonical } from '../../fhir/canonical';
import { type Resource } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { parseSearch } from '../search/parse-search';
import { ResourceSearch } from '../search/resource-search';
import { SearchIndex } from '../search/search-index';

/** Definitions of one URL that differ in their versions; more are not looked at. */
const MAX_VERSIONS = 20;

/** Finds definitions (StructureDefinition, ValueSet) by their canonical. */
@Injectable()
export class StoredDefinitions {
  constructor(
    private readonly search: ResourceSearch,
    private readonly index: SearchIndex,
    private readonly environment: Environment,
  ) {}

  /** @param canonical a URL with or without `|version`; without one, the definition that was stored last counts */
  async find(type: 'StructureDefinition' | 'ValueSet', canonical: string): Promise<Resource | undefined> {
    const { url, version } = parseCanonical(canonical);
    // A comma would be read as "or".
    const query = new URLSearchParams({ url: url.replace(/[\\,$|]/g, '\\$&') });
    const { clauses } = parseSearch(query, {
      type,
      parameters: this.index.parameters,
      baseUrl: this.environment.baseUrl,
      isLenient: false,
    });
    const { resources } = await this.search.search({ type, clauses, count: MAX_VERSIONS, total: 'none' });
    const found = resources
      .map(({ text }) => JSON.parse(text) as Resource)
      .filter((definition) => definition.url === url);
    const fitting = version === undefined ? found : found.filter((definition) => definition.version === version);
    return latestOf(fitting);
  }
}
