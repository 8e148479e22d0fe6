import { Injectable } from '@nestjs/common';
import { Slots, type SlotsOptions } from '../../platform/admission/slots';
import { Environment } from '../../platform/config/environment';

/**
 * Limits of a queued login. It waits for at most 30 s: most HTTP clients give up then, and nobody would use its hash.
 */
export const LOGINS = {
  longestWaitMilliseconds: 30_000,
  busyMessage: 'Too many logins at once. Try again.',
} satisfies Partial<SlotsOptions>;

/**
 * Slots for password hashes: one per hash thread. A login takes its slot before its first statement. Otherwise hundreds
 * of waiting logins would hold database connections and starve every other request.
 */
@Injectable()
export class HashSlots extends Slots {
  constructor({ passwordHashSlots, passwordHashQueue }: Environment) {
    super({ ...LOGINS, permits: passwordHashSlots, mostWaiting: passwordHashQueue });
  }
}
