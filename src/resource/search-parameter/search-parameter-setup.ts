import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { searchParameterDefinitions } from '../../fhir/definitions/definitions';
import { searchParameterResource, searchParametersDigest } from '../../fhir/definitions/search-parameter-resources';
import { type Resource } from '../../fhir/types';
import { ServerSetup } from '../../platform/database/server-setup';
import { readJson } from '../../platform/json/read-json';
import { NextVersions } from '../writes/next-versions';
import { ResourceDraft } from '../../model/resource-draft';
import { type FreeId, type LockedResource, NEW_ID, type NewResource, ResourceStore } from '../../store/resource-store';
import { SearchIndex } from '../../search-index/search-index';

const TYPE = 'SearchParameter';

/**
 * Stores HL7's SearchParameters, so that they can be read and searched. Indexing does not read them, but uses the
 * compiled ones (ADR 0019). They are stored in one transaction without listeners, since none needs built-in
 * definitions.
 */
@Injectable()
export class SearchParameterSetup implements OnApplicationBootstrap {
  private readonly logger = new Logger(SearchParameterSetup.name);

  constructor(
    private readonly setup: ServerSetup,
    private readonly store: ResourceStore,
    private readonly index: SearchIndex,
    private readonly versions: NextVersions,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.index.current(); // before the transaction, since a load inside it is not cached
    await this.setup.whenChanged('search-parameters', searchParametersDigest(), () => this.bringUpToDate());
  }

  /**
   * Stores the definitions that differ from the stored ones. If a later version of this server lacks a definition, the
   * stored one remains, as an ordinary SearchParameter.
   */
  private async bringUpToDate(): Promise<void> {
    const resources = searchParameterDefinitions().map(searchParameterResource);
    const held = await this.store.lockAll(resources.map(({ id = '' }) => ({ type: TYPE, id })));
    const added: NewResource[] = [];
    for (const [index, resource] of resources.entries()) {
      const { current, ...free } = held[index] ?? { current: undefined, ...NEW_ID };
      if (current === undefined) added.push(this.newResourceOf(resource, free));
      else await this.replace(current, resource);
    }
    await this.store.insertAll(added);
    await this.store.assertUnchanged(added);
  }

  private newResourceOf(resource: Resource, free: FreeId): NewResource {
    const { id = '' } = resource;
    return { type: TYPE, id, content: this.versions.ofNew(draftOf(resource), id, 'PUT', free) };
  }

  private async replace(current: LockedResource, resource: Resource): Promise<void> {
    const { id } = current;
    if (current.value.url !== resource.url) {
      this.logger.warn(`SearchParameter/${id} is not that of HL7, which is therefore not stored`);
      return;
    }
    const content = await this.versions.after(current, draftOf(resource), 'PUT');
    if (content !== undefined) await this.store.replace(current, content);
  }
}

const draftOf = (resource: Resource): ResourceDraft => ResourceDraft.of(readJson(JSON.stringify(resource)), TYPE);
