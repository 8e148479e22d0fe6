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
  readonly firstNumber: number | null;
  readonly lastNumber: number | null;
}

/** With the number up to which one call may send; null where one call may send all. */
export interface ReplayPreview extends CountedEvents {
  readonly limitedTo: number | null;
}

const NOTHING = { events: 0, firstNumber: null, lastNumber: null, numberAtLimit: null };

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
      const { limitedTo, ...counted } = await this.countOf(destinationKey, range);
      if (limitedTo !== null) {
        throw new ServiceError(
          'unprocessable',
          `The range holds ${counted.events} delivered events, and one call sends at most ${MAX_QUEUED_AGAIN} again. Begin with those up to number ${limitedTo} ("to").`,
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
  async preview(destinationId: string, range: EventRange): Promise<ReplayPreview> {
    const { destinationKey } = await this.destinations.read(destinationId);
    return this.countOf(destinationKey, range);
  }

  private async countOf(destinationKey: number, range: EventRange): Promise<ReplayPreview> {
    const [{ numberAtLimit, ...counted } = NOTHING] = await this.statements.run<
      CountedEvents & { numberAtLimit: number | null }
    >(COUNT_DELIVERED, [destinationKey, MAX_QUEUED_AGAIN, ...rangeValues(range)]);
    return { ...counted, limitedTo: counted.events > MAX_QUEUED_AGAIN ? numberAtLimit : null };
  }
}
