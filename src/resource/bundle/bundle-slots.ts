import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';

/** Bundles that may wait; each holds its body. */
const MAX_WAITING = 64;

/** Bundles take at most half of the connections to the database, so that they never hold up all other requests. */
@Injectable()
export class BundleSlots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor({ databasePoolSize }: Environment) {
    this.free = Math.max(1, Math.floor(databasePoolSize / 2));
  }

  /** @throws ServiceError 'busy' when too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else if (this.waiting.length >= MAX_WAITING) {
      throw new ServiceError('busy', 'Too many Bundles at once. Try again.', { retryAfterSeconds: 2 });
    } else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next(); // the slot changes hands
    }
  }
}
