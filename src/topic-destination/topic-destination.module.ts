import { Module } from '@nestjs/common';
import { DeliveryModule } from '../delivery/delivery.module';
import { OperationModule } from '../operation/operation.module';
import { ResourceModule } from '../resource/resource.module';
import { CriteriaEvaluation } from './criteria-evaluation';
import { DestinationEventsOperation } from './destination-events.operation';
import { DestinationPrincipal } from './destination-principal';
import { DestinationReplayOperation } from './destination-replay.operation';
import { DestinationStatusOperation } from './destination-status.operation';
import { DestinationTestOperation } from './destination-test.operation';
import { DryRunOperation } from './dry-run/dry-run.operation';
import { TopicDryRun } from './dry-run/topic-dry-run';
import { NotificationBundleRenderer } from './notification-bundle.renderer';
import { ReadableChanges } from './readable-changes';
import { ReadableCriteria } from './readable-criteria';
import { ReadableFocus } from './readable-focus';
import { ShownDestination } from './shown-destination';
import { SubscriptionResourceType } from './subscription.resource-type';
import { SubscriptionTopicRule } from './subscription-topic.rule';
import { TopicDestinationRule } from './topic-destination.rule';
import { TopicEventListener } from './topic-event.listener';
import { TopicRegistry } from './topic-registry';

/** Topics, destinations, and the way of a change from its transaction into the outbox. */
@Module({
  imports: [DeliveryModule, OperationModule, ResourceModule],
  providers: [
    CriteriaEvaluation,
    DestinationEventsOperation,
    DestinationPrincipal,
    DestinationReplayOperation,
    DestinationStatusOperation,
    DestinationTestOperation,
    DryRunOperation,
    ReadableChanges,
    ReadableCriteria,
    ReadableFocus,
    NotificationBundleRenderer,
    ShownDestination,
    SubscriptionResourceType,
    SubscriptionTopicRule,
    TopicDestinationRule,
    TopicDryRun,
    TopicEventListener,
    TopicRegistry,
  ],
})
export class TopicDestinationModule {}
