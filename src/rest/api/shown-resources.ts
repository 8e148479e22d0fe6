import { Injectable } from '@nestjs/common';
import { ResourceRules } from '../../resource/hooks/resource-rule.registry';
import { type StoredResource } from '../../model/stored-resource';

/** One resource as its reader or writer is shown it: as it is stored, but where the rule of its type shows him more. */
@Injectable()
export class ShownResources {
  constructor(private readonly rules: ResourceRules) {}

  async of(resource: StoredResource): Promise<StoredResource> {
    const text = await this.rules.of(resource.type)?.shown?.(resource);
    return text === undefined ? resource : { ...resource, text };
  }
}
