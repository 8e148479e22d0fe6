import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { tooManyLogins } from './too-many-logins';

/**
 * Lets in as many logins at a time as keep the hash threads busy; the others wait here, before they ask the database
 * anything: hundreds at once would keep every other request from its connections.
 */
@Injectable()
export class LoginQueue {
  private readonly waiting: (() => void)[] = [];
  private inside = 0;

  constructor(private readonly environment: Environment) {}

  /** @throws ServiceError 'busy' when as many wait as may */
  async run<T>(login: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await login();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.inside--;
      else next();
    }
  }

  /** A place goes from the one who leaves to the one who waited longest. */
  private async enter(): Promise<void> {
    const { passwordHashSlots, passwordHashQueue } = this.environment;
    // While a thread hashes, the next login looks up its client and user.
    if (this.inside < 2 * passwordHashSlots) {
      this.inside++;
      return;
    }
    if (this.waiting.length >= passwordHashQueue) throw tooManyLogins();
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
