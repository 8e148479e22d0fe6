import { Injectable } from '@nestjs/common';
import { Slots } from '../../platform/admission/slots';
import { Environment } from '../../platform/config/environment';
import { LOGINS } from '../hashing/hash-slots';
import { putNewest } from '../../platform/memoized';

/** Maximum number of addresses in memory. Beyond it, the oldest address is dropped; its next try adds it again. */
const MOST_ADDRESSES = 10_000;

interface SlowAddress {
  readonly endsAt: number;
  readonly turns: Slots;
}

/**
 * Address prefixes with many recent failures, as last read by this process. Logins from such a prefix run one at a
 * time, and the slot is given to the waiting login names in turn. So a person who guesses passwords mostly delays the
 * login names that are tried. Other people at the same address wait for at most one try of each of these names.
 */
@Injectable()
export class SlowAddresses {
  private readonly known = new Map<string, SlowAddress>();

  constructor(private readonly environment: Environment) {}

  /** @param seconds for how many seconds the address stays slow; null when it is not slow */
  note(prefix: string, seconds: number | null): void {
    if (seconds === null) {
      this.known.delete(prefix);
      return;
    }
    const { passwordHashQueue: mostWaiting } = this.environment;
    const turns = this.known.get(prefix)?.turns ?? new Slots({ ...LOGINS, permits: 1, mostWaiting });
    putNewest(this.known, prefix, { endsAt: performance.now() + seconds * 1_000, turns }, MOST_ADDRESSES);
  }

  /** Returns the queue of a slow address, whose callers are login names; undefined for any other address. */
  turnsOf(prefix: string): Slots | undefined {
    const known = this.known.get(prefix);
    return known !== undefined && known.endsAt > performance.now() ? known.turns : undefined;
  }
}
