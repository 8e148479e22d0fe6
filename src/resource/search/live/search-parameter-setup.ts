import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { searchParameterDefinitions } from '../../../fhir/definitions';
import { searchParameterResource, searchParametersDigest } from '../../../fhir/search-parameter-resources';
import { type Resource } from '../../../fhir/types';
import { ServerSetup } from '../../../platform/database/server-setup';
import { Clock } from '../../../platform/time/clock';
import { isSame } from '../../resource-writer';
import { type LockedId, type NewResource, ResourceStore, type VersionContent } from '../../store/resource-store';
import { SearchIndex } from '../search-index';

const TYPE = 'SearchParameter';

/**
 * Stores HL7's SearchParameters to be read and searched; what is indexed comes from the compiled ones (ADR 0019). One
 * transaction, and nobody is told: no listener has anything to do with what is built in.
 */
@Injectable()
export class SearchParameterSetup implements OnApplicationBootstrap {
  private readonly logger = new Logger(SearchParameterSetup.name);

  constructor(
    private readonly setup: ServerSetup,
    private readonly store: ResourceStore,
    private readonly index: SearchIndex,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.index.current(); // what a transaction loads is not kept
    await this.setup.whenChanged('search-parameters', searchParametersDigest(), () => this.bringUpToDate());
  }

  /** What a later set leaves out stays stored, as a SearchParameter like any other. */
  private async bringUpToDate(): Promise<void> {
    const resources = searchParameterDefinitions().map(searchParameterResource);
    const held = await this.store.lockAll(resources.map(({ id = '' }) => ({ type: TYPE, id })));
    const added: NewResource[] = [];
    for (const [index, resource] of resources.entries()) {
      const { current, lastVersion } = held[index] ?? { current: undefined, lastVersion: 0 };
      if (current === undefined) added.push(this.newResourceOf(resource, lastVersion));
      else await this.replace(current, resource);
    }
    await this.store.insertAll(added, () => Promise.resolve());
    await this.store.assertUnchanged(added);
  }

  private newResourceOf(resource: Resource, lastVersion: number): NewResource {
    const { id = '' } = resource;
    return { type: TYPE, id, content: contentOf(resource, lastVersion + 1, this.clock.now()) };
  }

  private async replace(current: NonNullable<LockedId['current']>, resource: Resource): Promise<void> {
    const { id, version, updatedAt } = current;
    if (current.value.url !== resource.url) {
      this.logger.warn(`SearchParameter/${id} is not that of HL7, which is therefore not stored`);
      return;
    }
    if (isSame(contentOf(resource, version, updatedAt).text, current.text)) return;
    const later = new Date(Math.max(this.clock.now().getTime(), updatedAt.getTime() + 1));
    await this.store.replace(current, contentOf(resource, version + 1, later));
  }
}

/** The text as a draft of the same body would be stored, so that a client's PUT of it changes nothing. */
function contentOf({ resourceType, id = '', ...members }: Resource, version: number, updatedAt: Date): VersionContent {
  const meta = { versionId: String(version), lastUpdated: updatedAt.toISOString() };
  const value = { resourceType, id, meta, ...members };
  return { version, updatedAt, method: 'PUT', text: JSON.stringify(value), value };
}
