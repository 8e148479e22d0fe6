import { Injectable } from '@nestjs/common';
import { Slots, type SlotsOptions } from '../../platform/admission/slots';
import { Environment } from '../../platform/config/environment';

/** For all that waits for a login: most clients of HTTP give up after 30 s. */
export const LOGINS = {
  longestWaitMilliseconds: 30_000,
  busyMessage: 'Too many logins at once. Try again.',
} satisfies Partial<SlotsOptions>;

/**
 * The slots of work that computes password hashes, one for each hash thread. A login takes its slot before its first statement: hundreds
 * of logins that wait with a connection to the database would keep every other request from it.
 */
@Injectable()
export class HashSlots extends Slots {
  constructor({ passwordHashSlots, passwordHashQueue }: Environment) {
    super({ ...LOGINS, permits: passwordHashSlots, mostWaiting: passwordHashQueue });
  }
}
