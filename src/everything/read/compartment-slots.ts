import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';

/** The longest wait for a slot. */
const WAIT_MILLISECONDS = 5_000;

/** A large compartment holds a connection while its caller reads: half of the connections stay free for other requests. */
@Injectable()
export class CompartmentSlots {
  private free: number;
  private readonly waiting = new Set<() => void>();

  constructor(environment: Environment) {
    this.free = Math.max(1, Math.floor(environment.databasePoolSize / 2));
  }

  /** @throws ServiceError 'busy' when no slot became free */
  async within<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await this.turn(signal);
    try {
      return await work();
    } finally {
      const [next] = this.waiting;
      if (next === undefined) this.free++;
      else next();
    }
  }

  /** Settles when a slot is handed over. */
  private turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        this.waiting.delete(take);
      };
      const take = (): void => {
        leave();
        resolve();
      };
      const giveUp = (): void => {
        leave();
        reject(
          new ServiceError('busy', 'Too many large patient compartments are being read. Try again.', {
            retryAfterSeconds: 2,
          }),
        );
      };
      const timer = setTimeout(giveUp, WAIT_MILLISECONDS);
      signal?.addEventListener('abort', giveUp);
      this.waiting.add(take);
    });
  }
}
