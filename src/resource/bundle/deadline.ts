import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../../platform/errors/service-error';

/** How many steps may follow each other before other requests get their turn: a step is well below a millisecond. */
const STEPS_A_TURN = 50;

/** Bounds the whole of a bundle, whose statements are bounded one by one, and keeps it from holding up other requests. */
export class Deadline {
  private readonly endsAt: number;
  private steps = 0;

  constructor(private readonly seconds: number) {
    this.endsAt = performance.now() + seconds * 1000;
  }

  get isOver(): boolean {
    return performance.now() > this.endsAt;
  }

  /** Called after each step. @throws ServiceError 'timeout' when the time is over. */
  async check(): Promise<void> {
    if (++this.steps % STEPS_A_TURN === 0) await nextTurn();
    if (this.isOver)
      throw new ServiceError('timeout', `The Bundle took longer than ${this.seconds} s. Send it in parts.`);
  }
}
