import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../../platform/discovery/handler-registry';
import { ResourceTypes } from '../../model/resource-types';
import { type StoredResource } from '../../model/stored-resource';
import { ForResourceType, type ResourceRule } from './resource-rule';

@Injectable()
export class ResourceRules extends HandlerRegistry<string, ResourceRule<unknown>> implements OnApplicationBootstrap {
  protected override readonly remedy =
    'A type has one rule: put both checks into one class, or check in a listener (OnResourceChange).';

  constructor(
    discovery: DiscoveryService,
    private readonly types: ResourceTypes,
  ) {
    super(discovery, ForResourceType, (type) => type, ['check']);
  }

  /** @throws StartError for a misspelt type, whose rule would never run */
  onApplicationBootstrap(): void {
    for (const { meta: type, handler } of this.all()) this.types.assertNamed(type, handler);
  }

  of(type: string): ResourceRule<unknown> | undefined {
    return this.find(type)?.handler;
  }

  /**
   * One resource as returned to the caller who reads or writes it. This is the stored resource, unless the rule of its
   * type shows more.
   */
  async shown(resource: StoredResource): Promise<StoredResource> {
    const text = await this.of(resource.type)?.shown?.(resource);
    return text === undefined ? resource : { ...resource, text };
  }
}
