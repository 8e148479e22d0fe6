import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { DeliveryWorker } from './delivery-worker';
import { DestinationRuntimes } from './destination-runtimes.repository';
import { type EventRange, rangeValues } from './timeline';
import { COUNT_DELIVERED, QUEUE_AGAIN } from './timeline-statements';

/** The most events that one call queues: beyond it the caller shall mean it. */
const MAX_QUEUED_AGAIN = 10_000;
/** Numbers of events that were queued again. */
export interface QueuedAgain {
  readonly events: number;
  readonly firstNumber: number | undefined;
  readonly lastNumber: number | undefined;
}

interface CountRow {
  readonly events: number;
  readonly first_number: number | null;
  readonly last_number: number | null;
  readonly number_at_limit: number | null;
}

/** Sends delivered events to their destination once more, under their numbers. */
@Injectable()
export class Replays {
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly runtimes: DestinationRuntimes,
    private readonly worker: DeliveryWorker,
  ) {}

  /**
   * Puts what was delivered in the range at the end of the destination's queue. A crash, a retry and a second caller are
   * what they are for any event.
   * @throws ServiceError 'not-found'; 'unprocessable' for more events than one call takes
   */
  queueAgain(destinationId: string, range: EventRange): Promise<QueuedAgain> {
    return this.unitOfWork.run(async () => {
      const { destinationKey } = await this.runtimes.read(destinationId);
      const values = [destinationKey, MAX_QUEUED_AGAIN, ...rangeValues(range)];
      const count = await this.statements.runOne<CountRow>(COUNT_DELIVERED, values);
      const events = count?.events ?? 0;
      if (events > MAX_QUEUED_AGAIN) {
        throw new ServiceError(
          'unprocessable',
          `The range holds ${events} delivered events, and one call sends at most ${MAX_QUEUED_AGAIN} again. Begin with those up to number ${count?.number_at_limit ?? 0} ("to").`,
          { expression: 'to' },
        );
      }
      await this.statements.run(QUEUE_AGAIN, values);
      this.unitOfWork.afterCommit(() => {
        this.worker.wake([destinationKey]);
      });
      return {
        events,
        firstNumber: count?.first_number ?? undefined,
        lastNumber: count?.last_number ?? undefined,
      };
    });
  }
}
