import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { FairQueue } from '../../platform/http/fair-queue';
import { Clock } from '../../platform/time/clock';
import { tooManyLogins } from '../hashing/too-many-logins';
import { TokenGate } from './token-gate';

/** Who has waited longer is refused: most clients of HTTP have given up by then. */
const LONGEST_WAIT_SECONDS = 30;

/** Longer than a login takes: while others are served, less than half of the time belongs to logins. */
const REST_MILLISECONDS = 25;

/** Somebody who wants to log in. */
export interface Arrival {
  /** Tells callers apart (`addressPrefixOf`). */
  readonly address: string;
  /** Whether nobody waits for the answer any more. */
  readonly isGone: () => boolean;
  /** Told when it has to wait. */
  readonly onWait: () => void;
}

interface Waiting extends Arrival {
  readonly since: number;
  readonly begin: () => void;
  readonly refuse: () => void;
}

/**
 * Lets in as many logins at a time as keep the hash threads busy; the others wait here, before they ask the database
 * anything: hundreds at once would keep every other request from its connections. Addresses take turns, so that a flood
 * from one of them holds up itself. Logins give way to all other requests: a place rests after each, while there are any.
 */
@Injectable()
export class LoginQueue {
  private readonly waiting = new FairQueue<Waiting>();
  private inside = 0;

  constructor(
    private readonly environment: Environment,
    private readonly clock: Clock,
    private readonly gate: TokenGate,
  ) {}

  /** @throws ServiceError 'busy' when as many wait as may, or after thirty seconds */
  async run<T>(arrival: Arrival, login: () => Promise<T>): Promise<T> {
    await this.enter(arrival);
    try {
      return await login();
    } finally {
      if (this.gate.hasOthers) setTimeout(this.leave, REST_MILLISECONDS).unref();
      else this.leave();
    }
  }

  private async enter(arrival: Arrival): Promise<void> {
    // While a thread hashes, the next login looks up its client and user; one fewer leaves time to everybody else.
    if (this.inside < 2 * this.environment.passwordHashSlots - 1) {
      this.inside++;
      return;
    }
    this.makePlace(arrival.address);
    arrival.onWait();
    await new Promise<void>((resolve, reject) => {
      const refuse = (): void => {
        reject(tooManyLogins());
      };
      this.waiting.add(arrival.address, { ...arrival, since: this.clock.now().getTime(), begin: resolve, refuse });
    });
  }

  /** Where there is none, the last one of the longest line leaves, unless that is the line of the one who comes. */
  private makePlace(address: string): void {
    if (this.waiting.size < this.environment.passwordHashQueue) return;
    const last = this.waiting.takeFromLongest(address);
    if (last === undefined) throw tooManyLogins();
    last.refuse();
  }

  /** A place goes from the one who leaves to the next. */
  private readonly leave = (): void => {
    const oldest = this.clock.now().getTime() - LONGEST_WAIT_SECONDS * 1_000;
    for (let next = this.waiting.take(); next !== undefined; next = this.waiting.take()) {
      if (next.since >= oldest && !next.isGone()) {
        next.begin();
        return;
      }
      next.refuse();
    }
    this.inside--;
  };
}
