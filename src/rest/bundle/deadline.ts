import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EndSignal } from '../../platform/admission/request-end';
import { ServiceError } from '../../platform/errors/service-error';

/** Steps between two yields to other requests. A step takes well below a millisecond. */
const STEPS_A_TURN = 50;

/**
 * Limits the total time of a Bundle, in addition to the limits of its statements, and yields to other requests. It also
 * ends a Bundle whose client disconnected.
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

  /**
   * Stops the work for a client that disconnected, even before a commit.
   * @throws ServiceError 'busy' if the client disconnected
   */
  checkClient(): void {
    this.signal?.throwIfAborted();
  }

  /**
   * Checks time limit and client; called after each step.
   * @throws ServiceError 'timeout' after the time limit; otherwise as {@link checkClient}
   */
  async check(): Promise<void> {
    if (++this.steps % STEPS_A_TURN === 0) await nextTurn();
    this.checkClient();
    if (this.isOver)
      throw new ServiceError('bundle-timeout', `The Bundle took longer than ${this.seconds} s. Send it in parts.`);
  }
}
