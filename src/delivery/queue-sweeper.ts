import { Injectable } from '@nestjs/common';
import { Background, type BackgroundTask } from '../platform/background/background';
import { Statements } from '../platform/database/statements';
import { SWEEP } from './delivery-statements';

export const QUEUE_SWEEP = 'sweep of delivery queues';

type EventKey = readonly [destinationKey: number, eventId: number];

/** Below the keys of all events. */
const START: EventKey = [0, 0];

/**
 * Deletes the queues of deleted destinations in steps, so that no statement runs long. It also runs every hour, for
 * events whose destination was deleted while their write was running.
 */
@Injectable()
@Background({ task: QUEUE_SWEEP, interval: () => 3_600_000 })
export class QueueSweeper implements BackgroundTask {
  /** Later steps start here: from the beginning of the queue, each would pass all events that were deleted before. */
  private position = START;

  constructor(private readonly statements: Statements) {}

  async step(): Promise<0 | undefined> {
    const { position } = this;
    const swept = await this.statements.runOne<{ key: number; event: number }>(SWEEP, position);
    this.position = swept === undefined ? START : [swept.key, swept.event];
    // At the end, it starts again: a destination before the position may have been deleted in the meantime.
    return swept === undefined && position === START ? undefined : 0;
  }
}
