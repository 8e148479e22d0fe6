import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { ServiceError } from '../../platform/errors/service-error';
import { Slices } from '../../platform/time/slices';
import { OnResourceChange, type ResourceChangeListener } from '../../resource/hooks/resource-change';
import { type ResourceDraft } from '../../model/resource-draft';
import { ForResourceType, type ResourceRule } from '../../resource/hooks/resource-rule';
import { DefinesResourceType } from '../../model/resource-type';
import { ResourceTypes } from '../../model/resource-types';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { newTopicOf } from './topic';
import { SUBSCRIPTION_TOPIC_SHAPE } from './topic.shapes';

/** Validates SvcSubscriptionTopics. A change applies to each request that begins after the response to the change. */
@Injectable()
@DefinesResourceType({
  type: 'SvcSubscriptionTopic',
  shape: SUBSCRIPTION_TOPIC_SHAPE,
  searchParameters: [
    { code: 'url', kind: 'uri', expression: 'SvcSubscriptionTopic.url' },
    { code: 'status', kind: 'token', expression: 'SvcSubscriptionTopic.status' },
  ],
})
@ForResourceType('SvcSubscriptionTopic')
@OnResourceChange({ types: ['SvcSubscriptionTopic'] })
export class SubscriptionTopicRule implements ResourceRule, ResourceChangeListener {
  constructor(
    private readonly types: ResourceTypes,
    private readonly epoch: RegistryEpoch,
    private readonly granted: GrantedReader,
    private readonly slices: Slices,
  ) {}

  async check(draft: ResourceDraft): Promise<void> {
    if (this.granted.isLimited && /\bresolve\b/.test(draft.member('trigger') ?? '')) {
      throw new ServiceError(
        'rows-limited',
        'Your policies limit you to some resources, and resolve() in a criterion reads any. Leave it out.',
        { expression: 'SvcSubscriptionTopic.trigger' },
      );
    }
    await this.slices.run(newTopicOf(draft.value, this.types));
  }

  onChange(): Promise<void> {
    this.epoch.raise();
    return Promise.resolve();
  }
}
