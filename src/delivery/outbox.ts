import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { APPEND } from './delivery-statements';
import { DeliveryWorker } from './delivery-worker';
import { type DeliveryEvent } from './notification-renderer';

export interface NewEvent extends DeliveryEvent {
  readonly destinationKey: number;
  /** About what the event adds to a notification. */
  readonly payloadBytes: number;
}

/** Where events enter: in the transaction of the change that causes them (interface, "Delivery rules", 1). */
@Injectable()
export class Outbox {
  private readonly gathered = Symbol('outbox');

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly worker: DeliveryWorker,
  ) {}

  /**
   * Records events at the end of the open transaction, when it holds every row lock: so of one resource the later
   * version gets the larger number. Workers are woken after the commit.
   */
  append(events: readonly NewEvent[]): void {
    for (const event of events) this.unitOfWork.gather(this.gathered, event, (all) => this.insert(all));
  }

  private async insert(events: readonly NewEvent[]): Promise<void> {
    const column = <K extends keyof NewEvent>(key: K): NewEvent[K][] => events.map((event) => event[key]);
    const destinationKeys = column('destinationKey');
    await this.statements.run(APPEND, [
      destinationKeys,
      column('type'),
      column('id'),
      column('version'),
      column('interaction'),
      column('method'),
      column('payloadBytes'),
      column('isUndecided'),
    ]);
    this.unitOfWork.afterCommit(() => {
      this.worker.wake(destinationKeys);
    });
  }
}
