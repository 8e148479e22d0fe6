import { Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Environment } from '../platform/config/environment';
import { SecretBox } from '../platform/crypto/secret-box';
import { BatchSender } from './batch-sender';
import { DeliveryKinds } from './delivery-kind';
import { DeliveryHousekeeping } from './delivery-housekeeping';
import { DeliveryMetrics } from './delivery.metrics';
import { DeliveryQueue } from './delivery-queue';
import { DeliveryWorker } from './delivery-worker';
import { Destinations } from './destinations';
import { Outbox } from './outbox';
import { QueueSweeper } from './queue-sweeper';
import { Replays } from './replays';
import { SendMemory } from './send-memory';
import { Timeline } from './timeline';
import { TopicCorrelationGuard } from './topic-correlation.guard';
import { Trials } from './trials';
import { WorkerIdentity } from './worker-identity';

/** Delivers events at least once. It handles destinations and events, and does not depend on resources or topics. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    BatchSender,
    DeliveryKinds,
    DeliveryHousekeeping,
    DeliveryMetrics,
    DeliveryQueue,
    DeliveryWorker,
    Destinations,
    Outbox,
    QueueSweeper,
    Replays,
    SecretBox,
    SendMemory,
    Timeline,
    Trials,
    TopicCorrelationGuard,
    { provide: APP_GUARD, useExisting: TopicCorrelationGuard },
    { provide: WorkerIdentity, inject: [DataSource, Environment], useFactory: identityOn },
  ],
  exports: [DeliveryKinds, Destinations, Outbox, Replays, Timeline, Trials],
})
export class DeliveryModule {}

function identityOn({ options }: DataSource, { databaseDirectUrl }: Environment): WorkerIdentity {
  if (options.type !== 'postgres' || options.url === undefined) throw new Error('The data source has no URL');
  return new WorkerIdentity(databaseDirectUrl ?? options.url);
}
