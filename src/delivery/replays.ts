import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { DeliveryWorker } from './delivery-worker';
import { Destinations } from './destinations';
import { type EventRange, rangeValues } from './timeline';
import { COUNT_DELIVERED, QUEUE_AGAIN } from './timeline-statements';

/** Maximum number of events that one call queues, so that nobody queues more by mistake. */
const MAX_QUEUED_AGAIN = 10_000;

/** How many delivered events are in a range, with the numbers of the first and the last one, if there are any. */
interface CountedEvents {
  readonly events: number;
  readonly from: number | null;
  readonly to: number | null;
  /** Number of the last event that one call may queue; null if one call may queue all. */
  readonly limitedTo: number | null;
}

/** Sends delivered events to their destination again, under their old numbers. */
@Injectable()
export class Replays {
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly destinations: Destinations,
    private readonly worker: DeliveryWorker,
  ) {}

  /**
   * Appends the delivered events in the range to the queue of the destination. A dry run only counts them.
   * @throws ServiceError 'not-found'; 'unprocessable' for more events than one call may queue
   */
  queueAgain(destinationId: string, range: EventRange, isDryRun: boolean): Promise<CountedEvents> {
    return this.unitOfWork.run(async () => {
      const { destinationKey } = await this.destinations.read(destinationId);
      const values = rangeValues(destinationKey, MAX_QUEUED_AGAIN, range);
      const [counted] = (await this.statements.run(COUNT_DELIVERED, values)) as [CountedEvents];
      if (isDryRun) return counted;
      if (counted.limitedTo !== null) {
        throw new ServiceError(
          'replay-too-large',
          `The range holds ${counted.events} delivered events, and one call sends at most ${MAX_QUEUED_AGAIN} again. Begin with those up to number ${counted.limitedTo} ("to").`,
          { expression: 'to' },
        );
      }
      await this.statements.run(QUEUE_AGAIN, values);
      this.unitOfWork.afterCommit(() => {
        this.worker.wake([destinationKey]);
      });
      return counted;
    });
  }
}
