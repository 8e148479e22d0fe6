import { Injectable } from '@nestjs/common';
import { DefinesResourceType, type WriteRefusal } from '../../model/resource-type';

/** Nothing would be delivered to the channel, and the caller must not believe that it is subscribed. */
const NOT_SERVED: WriteRefusal = {
  kind: 'unprocessable',
  message:
    'Subscription of R4 is not served. Store an SvcSubscriptionTopic with the criteria and an SvcTopicDestination with the endpoint instead.',
};

/** R4's Subscription. Subscriptions that an older release stored can be read and deleted. */
@Injectable()
@DefinesResourceType({ type: 'Subscription', refusedWrites: { create: NOT_SERVED, update: NOT_SERVED } })
export class SubscriptionResourceType {}
