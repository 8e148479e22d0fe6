import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { DestinationRuntimeEntity } from './destination-runtime.entity';

export type DestinationConfiguration = Pick<
  DestinationRuntimeEntity,
  'kind' | 'presentation' | 'attemptLogLevel' | 'sealedSettings' | 'maxMessagesInBatch' | 'timeoutSeconds'
>;

const REMOVE: Statement = {
  name: 'delivery-remove-destination',
  text: `with runtime as (delete from destination_runtime where destination_key = $1),
      batch as (delete from open_batch where destination_key = $1)
    delete from outbox_event where destination_key = $1`,
};

/** The cold paths of the delivery tables: what a change of a destination does to them. */
@Injectable()
export class DestinationRuntimes {
  constructor(
    @InjectRepository(DestinationRuntimeEntity) private readonly runtimes: Repository<DestinationRuntimeEntity>,
    private readonly statements: Statements,
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

  /** Of a locked row, so the order does not matter: workers hold the row while they change the other two tables. */
  async remove(destinationKey: number): Promise<void> {
    await this.statements.run(REMOVE, [destinationKey]);
  }
}
