import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { DeliveryWorker } from './delivery-worker';
import { Destinations } from './destinations';
import { type EventRange, rangeValues } from './timeline';
import { COUNT_DELIVERED, QUEUE_AGAIN } from './timeline-statements';

/** The most events that one call queues, so that more are never queued by mistake. */
const MAX_QUEUED_AGAIN = 10_000;

/** Number of delivered events of a range, and the numbers of the first and the last; null without events. */
export interface CountedEvents {
  readonly events: number;
  readonly from: number | null;
  readonly to: number | null;
  /** The number up to which one call may send; null if one call may send all. */
  readonly limitedTo: number | null;
}

/** Sends delivered events to their destination again, with their numbers. */
@Injectable()
export class Replays {
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly destinations: Destinations,
    private readonly worker: DeliveryWorker,
  ) {}

  /**
   * Appends the delivered events in the range to the destination's queue. Crashes, retries and concurrent callers are
   * handled as for any event.
   * @throws ServiceError 'not-found'; 'unprocessable' for more events than one call may queue
   */
  queueAgain(destinationId: string, range: EventRange): Promise<CountedEvents> {
    return this.unitOfWork.run(async () => {
      const { destinationKey } = await this.destinations.read(destinationId);
      const counted = await this.countOf(destinationKey, range);
      const { events, limitedTo } = counted;
      if (limitedTo !== null) {
        throw new ServiceError(
          'unprocessable',
          `The range holds ${events} delivered events, and one call sends at most ${MAX_QUEUED_AGAIN} again. Begin with those up to number ${limitedTo} ("to").`,
          { code: 'replay-too-large', expression: 'to' },
        );
      }
      await this.statements.run(QUEUE_AGAIN, [destinationKey, MAX_QUEUED_AGAIN, ...rangeValues(range)]);
      this.unitOfWork.afterCommit(() => {
        this.worker.wake([destinationKey]);
      });
      return counted;
    });
  }

  /** Counts what {@link queueAgain} would queue. @throws ServiceError 'not-found' */
  async preview(destinationId: string, range: EventRange): Promise<CountedEvents> {
    const { destinationKey } = await this.destinations.read(destinationId);
    return this.countOf(destinationKey, range);
  }

  private async countOf(destinationKey: number, range: EventRange): Promise<CountedEvents> {
    const values = [destinationKey, MAX_QUEUED_AGAIN, ...rangeValues(range)];
    const [counted] = await this.statements.run<CountedEvents & Record<string, unknown>>(COUNT_DELIVERED, values);
    return counted ?? { events: 0, from: null, to: null, limitedTo: null };
  }
}
