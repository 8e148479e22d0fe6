import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EndSignal } from '../../platform/admission/request-end';
import { ServiceError } from '../../platform/errors/service-error';

/** How many steps may follow each other before other requests get their turn: a step is well below a millisecond. */
const STEPS_A_TURN = 50;

/**
 * Bounds the whole of a bundle, whose statements are bounded one by one, and keeps it from delaying other requests. A bundle whose
 * client disconnected ends too.
 */
export class Deadline {
  private readonly endsAt: number;
  private steps = 0;

  constructor(
    private readonly seconds: number,
    private readonly signal?: EndSignal,
  ) {
    this.endsAt = performance.now() + seconds * 1000;
  }

  get isOver(): boolean {
    return performance.now() > this.endsAt;
  }

  /** @throws ServiceError 'busy' when the client disconnected: nothing more is done for it, not even a commit. */
  checkClient(): void {
    this.signal?.throwIfAborted();
  }

  /** Called after each step. @throws ServiceError 'timeout' when the time is over; as {@link checkClient} */
  async check(): Promise<void> {
    if (++this.steps % STEPS_A_TURN === 0) await nextTurn();
    this.checkClient();
    if (this.isOver)
      throw new ServiceError('timeout', `The Bundle took longer than ${this.seconds} s. Send it in parts.`);
  }
}
