import { Injectable } from '@nestjs/common';
import { latestOf, parseCanonical } from '../../fhir/reference';
import { type Resource } from '../../fhir/types';
import { LateTexts } from '../../store/late-texts';
import { parseSearch } from '../../search/parse/parse-search';
import { SearchScopes } from '../../search/parse/search-scopes';
import { ResourceSearch } from '../../search/run/resource-search';
import { SearchIndex } from '../../search-index/search-index';

/** Maximum number of versions of one URL that are compared. */
const MAX_VERSIONS = 20;

const URLS_AT_ONCE = 20;

type DefinitionType = 'StructureDefinition' | 'ValueSet';

/** Finds definitions (StructureDefinition, ValueSet) by their canonical. */
@Injectable()
export class StoredDefinitions {
  constructor(
    private readonly resources: ResourceSearch,
    private readonly texts: LateTexts,
    private readonly index: SearchIndex,
    private readonly scopes: SearchScopes,
  ) {}

  /**
   * Finds a definition by its canonical.
   * @param canonical a URL with or without `|version`; without a version, the definition stored last is found
   */
  async find(type: DefinitionType, canonical: string): Promise<Resource | undefined> {
    const { url, version } = parseCanonical(canonical);
    const found = (await this.search(type, [url], MAX_VERSIONS)).filter((definition) => definition.url === url);
    const fitting = version === undefined ? found : found.filter((definition) => definition.version === version);
    return latestOf(fitting);
  }

  /** The urls among `urls` for which a definition is stored. One statement looks up {@link URLS_AT_ONCE} of them. */
  async known(type: DefinitionType, urls: readonly string[]): Promise<ReadonlySet<string>> {
    const known = new Set<string>();
    for (let start = 0; start < urls.length; start += URLS_AT_ONCE) {
      const some = urls.slice(start, start + URLS_AT_ONCE);
      // Several definitions of one URL may fill the result. Then the remaining URLs are searched again.
      for (let left = some; left.length > 0;) {
        const found = new Set((await this.search(type, left, URLS_AT_ONCE)).map(({ url }) => String(url)));
        for (const url of found) known.add(url);
        const others = left.filter((url) => !found.has(url));
        left = others.length === left.length ? [] : others;
      }
    }
    return known;
  }

  private async search(type: DefinitionType, urls: readonly string[], count: number): Promise<readonly Resource[]> {
    // In a search, a comma between URLs means "or", so a comma inside a URL is escaped.
    const query = new URLSearchParams({ url: urls.map((url) => url.replace(/[\\,$|]/g, '\\$&')).join(',') });
    const { clauses } = parseSearch(query, { type, ...this.scopes.by(this.index.parameters) });
    const { resources } = await this.resources.search({ type, clauses, count, total: 'none' });
    return (await this.texts.all(resources)).map(({ text = '{}' }) => JSON.parse(text) as Resource);
  }
}
