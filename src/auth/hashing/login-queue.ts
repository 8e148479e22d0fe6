import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { Clock } from '../../platform/time/clock';
import { tooManyLogins } from './too-many-logins';

/** Who has waited longer is refused: whoever logs in has given up, or tries again. */
const LONGEST_WAIT_SECONDS = 10;

/** Somebody who wants to log in. */
export interface Arrival {
  /** Tells callers apart (`addressPrefixOf`). */
  readonly address: string;
  /** Whether nobody waits for the answer any more. */
  readonly isGone: () => boolean;
}

interface Waiting extends Arrival {
  readonly since: number;
  readonly begin: () => void;
  readonly refuse: () => void;
}

/**
 * Lets in as many logins at a time as keep the hash threads busy; the others wait here, before they ask the database
 * anything: hundreds at once would keep every other request from its connections. Addresses take turns, so that a flood
 * from one of them holds up itself.
 */
@Injectable()
export class LoginQueue {
  /** By address; the first is the next one's. */
  private readonly lines = new Map<string, Waiting[]>();
  private inside = 0;
  private waiting = 0;

  constructor(
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  /** @throws ServiceError 'busy' when as many wait as may, or after ten seconds */
  async run<T>(arrival: Arrival, login: () => Promise<T>): Promise<T> {
    await this.enter(arrival);
    try {
      return await login();
    } finally {
      this.leave();
    }
  }

  private async enter(arrival: Arrival): Promise<void> {
    // While a thread hashes, the next login looks up its client and user; one fewer leaves time to everybody else.
    if (this.inside < 2 * this.environment.passwordHashSlots - 1) {
      this.inside++;
      return;
    }
    this.makePlace(arrival.address);
    await new Promise<void>((resolve, reject) => {
      const refuse = (): void => {
        reject(tooManyLogins());
      };
      const line = this.lines.get(arrival.address) ?? [];
      line.push({ ...arrival, since: this.clock.now().getTime(), begin: resolve, refuse });
      this.lines.set(arrival.address, line);
      this.waiting++;
    });
  }

  /** Where there is none, the last one of the longest line leaves, unless that is the line of the one who comes. */
  private makePlace(address: string): void {
    if (this.waiting < this.environment.passwordHashQueue) return;
    const longest = [...this.lines.values()].reduce<Waiting[]>(
      (one, other) => (other.length > one.length ? other : one),
      [],
    );
    if (longest.length <= (this.lines.get(address)?.length ?? 0) + 1) throw tooManyLogins();
    this.waiting--;
    longest.pop()?.refuse();
  }

  /** A place goes from the one who leaves to the next. */
  private leave(): void {
    const oldest = this.clock.now().getTime() - LONGEST_WAIT_SECONDS * 1_000;
    for (let next = this.takeNext(); next !== undefined; next = this.takeNext()) {
      if (next.since >= oldest && !next.isGone()) {
        next.begin();
        return;
      }
      next.refuse();
    }
    this.inside--;
  }

  private takeNext(): Waiting | undefined {
    for (const [address, line] of this.lines) {
      const next = line.shift();
      this.lines.delete(address);
      if (line.length > 0) this.lines.set(address, line);
      if (next === undefined) continue;
      this.waiting--;
      return next;
    }
    return undefined;
  }
}
