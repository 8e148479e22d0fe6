import { Module } from '@nestjs/common';
import { DeliveryModule } from '../delivery/delivery.module';
import { NotificationRenderer } from '../delivery/notification-renderer';
import { OperationModule } from '../operation/operation.module';
import { ResourceModule } from '../resource/resource.module';
import { CriteriaEvaluation } from './criteria/criteria-evaluation';
import { DestinationEventsOperation } from './operations/destination-events.operation';
import { DestinationPrincipal } from './destinations/destination-principal';
import { DestinationOverviewOperation } from './operations/destination-overview.operation';
import { DestinationReplayOperation } from './operations/destination-replay.operation';
import { DestinationRequestOperation } from './operations/destination-request.operation';
import { DestinationRetryOperation } from './operations/destination-retry.operation';
import { DestinationStatusOperation } from './operations/destination-status.operation';
import { DestinationTestOperation } from './operations/destination-test.operation';
import { DryRunOperation } from './dry-run/dry-run.operation';
import { TopicDryRun } from './dry-run/topic-dry-run';
import { NotificationBundleRenderer } from './events/notification-bundle.renderer';
import { ReadableChanges } from './events/readable-changes';
import { ReadableCriteria } from './events/readable-criteria';
import { ReadableFocus } from './events/readable-focus';
import { SubscriptionResourceType } from './destinations/subscription.resource-type';
import { SubscriptionTopicRule } from './topics/subscription-topic.rule';
import { TopicDestinationRule } from './destinations/topic-destination.rule';
import { TopicEventListener } from './events/topic-event.listener';
import { TopicRegistry } from './events/topic-registry';

/** Topics and destinations: turns changes of resources into events in the outbox, in the transaction of the change. */
@Module({
  imports: [DeliveryModule, OperationModule, ResourceModule],
  providers: [
    CriteriaEvaluation,
    DestinationEventsOperation,
    DestinationPrincipal,
    DestinationOverviewOperation,
    DestinationReplayOperation,
    DestinationRequestOperation,
    DestinationRetryOperation,
    DestinationStatusOperation,
    DestinationTestOperation,
    DryRunOperation,
    ReadableChanges,
    ReadableCriteria,
    ReadableFocus,
    NotificationBundleRenderer,
    { provide: NotificationRenderer, useExisting: NotificationBundleRenderer },

    SubscriptionResourceType,
    SubscriptionTopicRule,
    TopicDestinationRule,
    TopicDryRun,
    TopicEventListener,
    TopicRegistry,
  ],
})
export class TopicDestinationModule {}
