import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { ServiceError } from '../platform/errors/service-error';

/** What a request may wait for a slot before it is told to come back. */
const WAIT_MILLISECONDS = 5_000;

/** Large charts hold a connection as long as their callers read: half of the connections stay free for everybody else. */
@Injectable()
export class ChartSlots {
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
          new ServiceError('busy', 'Too many large charts are read at the moment. Try again.', {
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
