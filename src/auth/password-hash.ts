import { hash, verify } from '@node-rs/argon2';
import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { ServiceError } from '../platform/errors/service-error';

/** OWASP Password Storage Cheat Sheet: argon2id (the library's default) with at least 19 MiB, 2 iterations, 1 lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The hash of no password: a check against it costs what every check costs. */
const DECOY = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Longer inputs only cost time: they are refused before they are hashed. */
export const MAX_PASSWORD_BYTES = 256;

/**
 * Hashes and checks passwords in a bounded number of slots: a flood of logins waits or is told to come back,
 * and the rest of the server keeps its processors.
 */
@Injectable()
export class PasswordHash {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly environment: Environment) {}

  hash(password: string): Promise<string> {
    return this.inSlot(() => hash(password, PARAMETERS));
  }

  /** Does the same work for a password without a hash (unknown user), so that both take the same time. */
  async isRight(password: string, stored: string | undefined): Promise<boolean> {
    const isEqual = await this.inSlot(() => verify(stored ?? DECOY, password));
    return isEqual && stored !== undefined;
  }

  private async inSlot<T>(work: () => Promise<T>): Promise<T> {
    const { passwordHashSlots, passwordHashQueue } = this.environment;
    if (this.running < passwordHashSlots) {
      this.running++;
    } else {
      if (this.waiting.length >= passwordHashQueue) {
        throw new ServiceError('busy', 'Too many logins at once. Try again.', { retryAfterSeconds: 1 });
      }
      // The slot is handed over by the one that frees it.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }
}
