import { Injectable } from '@nestjs/common';
import { Slots, type SlotsOptions } from '../../platform/admission/slots';
import { Environment } from '../../platform/config/environment';

/** Wait of a queued login: most HTTP clients give up after 30 s. */
export const LOGINS = {
  longestWaitMilliseconds: 30_000,
  busyMessage: 'Too many logins at once. Try again.',
} satisfies Partial<SlotsOptions>;

/**
 * One slot per hash thread. A login takes its slot before its first statement: otherwise hundreds of waiting logins
 * would hold database connections and starve every other request.
 */
@Injectable()
export class HashSlots extends Slots {
  constructor({ passwordHashSlots, passwordHashQueue }: Environment) {
    super({ ...LOGINS, permits: passwordHashSlots, mostWaiting: passwordHashQueue });
  }
}
