import { Injectable } from '@nestjs/common';
import { Slots } from '../../platform/admission/slots';
import { serviceErrorOf } from '../../platform/http/service-error-of';
import { Counter } from '../../platform/metrics/counter';
import { type MetricFamily, single } from '../../platform/metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../../platform/metrics/metric-source';
import { RequestContext } from '../../platform/request/request-context';
import { type Grant } from '../grants/grant';
import { SlowAddresses } from '../guessing/slow-addresses';
import { HashSlots, LOGINS } from '../hashing/hash-slots';
import { OAuthError } from '../oauth/oauth-error';
import { type TokenRequest } from '../oauth/token-request';

/**
 * How many token requests without a password hash run at once. Four keep the event loop busy; more would only wait for
 * database connections.
 */
const OTHER_TOKENS = 4;

/**
 * The only queue of the token endpoint. A request waits here after its body is read and before its first statement.
 * Slots are given to the waiting address prefixes in turn, so a flood from one prefix delays only that prefix. Token
 * requests without a password hash are far cheaper, so they have separate slots. The results are counted as metrics.
 */
@Injectable()
@MetricsFrom({ source: 'logins', path: '/metrics' })
export class TokenSlots implements MetricSource {
  private readonly others = new Slots({ ...LOGINS, permits: OTHER_TOKENS });

  private readonly results = new Counter(
    'svc_logins_total',
    'Token requests by grant and result: ok, the code of RFC 6749, or why they were not judged.',
    ['password', 'refresh_token', 'client_credentials'].flatMap((grant) =>
      ['ok', 'invalid_client', 'invalid_grant', 'throttled'].map((result) => ({ grant, result })),
    ),
  );

  constructor(
    private readonly logins: HashSlots,
    private readonly slowAddresses: SlowAddresses,
    private readonly requests: RequestContext,
  ) {}

  /** @throws ServiceError 'busy' after thirty seconds, when the queue is full, or when the client disconnects */
  async run<T>(grant: Grant, request: TokenRequest, task: () => Promise<T>): Promise<T> {
    let result = 'ok';
    try {
      return await this.inSlot(grant, request, task);
    } catch (error) {
      result = error instanceof OAuthError ? error.code : (serviceErrorOf(error)?.kind ?? 'error');
      throw error;
    } finally {
      this.results.add({ grant: request.grantType, result });
    }
  }

  read(): readonly MetricFamily[] {
    const waiting = single('gauge', 'svc_logins_waiting', 'Logins that wait for a hash thread.', this.logins.waiting);
    return [this.results.read(), waiting];
  }

  private inSlot<T>({ costsHash = false }: Grant, request: TokenRequest, task: () => Promise<T>): Promise<T> {
    // Nobody is identified yet, so the caller of the ticket is the address prefix.
    const { ticket } = this.requests;
    if (!costsHash) return this.others.run(ticket, task);
    const login = (): Promise<T> => this.logins.run(ticket, task);
    const turns = this.slowAddresses.turnsOf(ticket.caller);
    const loginName = request.parameter('username') ?? '';
    return turns === undefined ? login() : turns.run({ caller: loginName, signal: ticket.signal }, login);
  }
}
