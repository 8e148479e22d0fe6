import { Injectable } from '@nestjs/common';
import { Slots } from '../../platform/admission/slots';
import { RequestContext } from '../../platform/request/request-context';
import { type Grant } from '../grants/grant';
import { SlowAddresses } from '../guessing/slow-addresses';
import { HashSlots, LOGINS } from '../hashing/hash-slots';
import { type TokenRequest } from '../oauth/token-request';

/**
 * How many token requests without a password hash run at once. Four keep the event loop busy; more would only wait for
 * database connections.
 */
const OTHER_TOKENS = 4;

/**
 * The only queue of the token endpoint. A request waits here after its body is read and before its first statement.
 * Slots are given to the waiting address prefixes in turn, so a flood from one prefix delays only that prefix. Token
 * requests without a password hash are far cheaper, so they have separate slots.
 */
@Injectable()
export class TokenSlots {
  private readonly others = new Slots({ ...LOGINS, permits: OTHER_TOKENS });

  constructor(
    private readonly logins: HashSlots,
    private readonly slowAddresses: SlowAddresses,
    private readonly requests: RequestContext,
  ) {}

  /** @throws ServiceError 'busy' after thirty seconds, when the queue is full, or when the client disconnects */
  run<T>({ costsHash = false }: Grant, request: TokenRequest, task: () => Promise<T>): Promise<T> {
    // Nobody is identified yet, so the caller of the ticket is the address prefix.
    const { ticket } = this.requests;
    if (!costsHash) return this.others.run(ticket, task);
    const login = (): Promise<T> => this.logins.run(ticket, task);
    const turns = this.slowAddresses.turnsOf(ticket.caller);
    const loginName = request.parameter('username') ?? '';
    return turns === undefined ? login() : turns.run({ caller: loginName, signal: ticket.signal }, login);
  }
}
