import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { DestinationRuntimeEntity } from './destination-runtime.entity';
import { OpenBatchEntity } from './open-batch.entity';
import { OutboxEventEntity } from './outbox-event.entity';

export type DestinationConfiguration = Pick<
  DestinationRuntimeEntity,
  'kind' | 'presentation' | 'attemptLogLevel' | 'sealedSettings' | 'maxMessagesInBatch' | 'timeoutSeconds'
>;

/** The cold paths of the delivery tables: what a change of a destination does to them. */
@Injectable()
export class DestinationRuntimes {
  constructor(
    @InjectRepository(DestinationRuntimeEntity) private readonly runtimes: Repository<DestinationRuntimeEntity>,
    @InjectRepository(OpenBatchEntity) private readonly batches: Repository<OpenBatchEntity>,
    @InjectRepository(OutboxEventEntity) private readonly events: Repository<OutboxEventEntity>,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  find(destinationId: string): Promise<DestinationRuntimeEntity | null> {
    return this.unitOfWork.bind(this.runtimes).findOneBy({ destinationId });
  }

  /** @throws ServiceError 'not-found' */
  async read(destinationId: string): Promise<DestinationRuntimeEntity> {
    const found = await this.find(destinationId);
    if (found === null) throw new ServiceError('not-found', `Resource SvcTopicDestination/${destinationId} not found`);
    return found;
  }

  /** Holds the row until the transaction ends: no worker claims or settles meanwhile. */
  lock(destinationId: string): Promise<DestinationRuntimeEntity | null> {
    return this.unitOfWork
      .bind(this.runtimes)
      .findOne({ where: { destinationId }, lock: { mode: 'pessimistic_write' } });
  }

  list(): Promise<Pick<DestinationRuntimeEntity, 'destinationKey' | 'presentation'>[]> {
    return this.unitOfWork.bind(this.runtimes).find({ select: { destinationKey: true, presentation: true } });
  }

  async insert(destinationId: string, configuration: DestinationConfiguration): Promise<void> {
    await this.unitOfWork.bind(this.runtimes).insert({ destinationId, ...configuration });
  }

  /** Takes the destination from its owner and makes it due at once, under its new configuration. */
  async reconfigure(destinationKey: number, configuration: DestinationConfiguration): Promise<void> {
    await this.unitOfWork.bind(this.runtimes).update(destinationKey, {
      ...configuration,
      epoch: () => 'epoch + 1',
      ownerSlot: null,
      leaseUntil: null,
      failStreak: 0,
      nextAttemptAt: () => 'clock_timestamp()',
      startedAt: () => 'clock_timestamp()',
    });
  }

  /** In this order: a worker holds the row of the runtime while it changes the other two. */
  async remove(destinationKey: number): Promise<void> {
    await this.unitOfWork.bind(this.runtimes).delete(destinationKey);
    await this.unitOfWork.bind(this.batches).delete(destinationKey);
    await this.unitOfWork.bind(this.events).delete({ destinationKey });
  }
}
