import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { KeptOn } from '../../platform/kept-on';
import { type Epochs } from '../../platform/request/epochs';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { type ErrorCode } from '../../platform/errors/error-codes';
import { ServiceError } from '../../platform/errors/service-error';
import { type Caller } from '../../platform/request/caller';
import { authorizationOf, queryOf } from '../../platform/http/raw-request';
import { RequestContext } from '../../platform/request/request-context';
import { SessionLinks } from '../../session/session-links';
import { Sessions } from '../../session/sessions';
import { basicCredentialsOf } from '../oauth/basic-credentials';
import { ClientAuthenticator } from '../client/client-authenticator';

/** The only path that accepts a link from `$amendments-link` instead of credentials. */
const LINKED_PATH = /^(?:\/fhir)?\/(SDC(?:Document|Workflow)\/[^/]+)\/(?:\$|%24)amendments\/?$/;

interface Identified {
  readonly caller: Caller;
  readonly epochs: Epochs;
}

/** The result of a look-up, for the credentials and the rights with which it was made. */
interface Judged {
  readonly authorization: string | undefined;
  readonly callerChanges: number;
  readonly identified: Promise<Identified>;
}

/**
 * Identifies the caller of a request. The bearer token of each request is looked up in the database, so every replica
 * refuses a closed Session at once.
 */
@Injectable()
export class CallerResolver {
  /**
   * Callers by HTTP request; entries of a Bundle use the request that contains them. Refusals are kept too: the body of
   * a refused request stays unread, so the guard must refuse the request with the same error.
   */
  private readonly judged = new KeptOn<Request, Judged>();

  constructor(
    private readonly sessions: Sessions,
    private readonly links: SessionLinks,
    private readonly clients: ClientAuthenticator,
    private readonly registryEpoch: RegistryEpoch,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Returns the caller of a request. The lookup runs once per request: before the body is read, or in the guard. The
   * entries of a Bundle share its caller, until an entry closes the Session or changes rights.
   * @throws ServiceError 'unauthorized'
   */
  async of(request: Request): Promise<Identified> {
    const authorization = authorizationOf(request);
    const { origin = request, callerChanges } = this.requests;
    const known = this.judged.get(origin);
    if (known?.callerChanges === callerChanges && known.authorization === authorization) return known.identified;
    const identified = authorization === undefined ? this.openedLink(request) : this.resolve(authorization);
    this.judged.set(origin, { authorization, callerChanges, identified });
    return identified;
  }

  /**
   * Returns the caller of the Session that made the one-time link, if the link is for this path. A GET uses the link
   * up; a HEAD does not.
   * @throws ServiceError 'unauthorized' for an expired link, or without a link
   */
  private async openedLink(request: Request): Promise<Identified> {
    const { method, path } = request;
    const [, target] = LINKED_PATH.exec(path) ?? [];
    const token = method === 'GET' || method === 'HEAD' ? queryOf(request).get('link-token') : null;
    if (target === undefined || token === null)
      throw unauthorized('token-missing', 'Send an access token: Authorization: Bearer <token>.');
    const session = await this.links.open(token, target, method === 'GET');
    if (session === undefined)
      throw unauthorized(
        'link-expired',
        'The link was opened before, or is older than a minute, or its Session has ended. Ask for another one.',
      );
    const { epochs, ...caller } = session;
    return { caller, epochs };
  }

  /**
   * Returns the caller of an Authorization header.
   * @throws ServiceError 'unauthorized' for malformed or invalid credentials
   */
  async resolve(authorization: string): Promise<Identified> {
    // The token is a b64token of RFC 6750, section 2.1.
    const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization)?.[1];
    if (bearer !== undefined) return this.resolveBearer(bearer);
    const basic = basicCredentialsOf(authorization);
    if (basic === undefined)
      throw unauthorized(
        'authorization-malformed',
        'The Authorization header holds neither a Bearer token nor Basic credentials.',
      );
    const client = await this.clients.findByBasic(basic);
    if (client === undefined)
      throw unauthorized('basic-rejected', 'The client id or secret is wrong, or the client may not use HTTP Basic.');
    return { caller: { clientId: client.id }, epochs: await this.registryEpoch.current() };
  }

  private async resolveBearer(token: string): Promise<Identified> {
    const session = await this.sessions.find(token);
    if (session === undefined) {
      throw new ServiceError(
        'token-rejected',
        'The access token is not valid: unknown, expired, or its Session is closed. Get another one with POST /auth/token.',
        { isInvalidToken: true },
      );
    }
    const { epochs, ...caller } = session;
    return { caller, epochs };
  }
}

const unauthorized = (code: ErrorCode, message: string): ServiceError =>
  new ServiceError('unauthorized', message, { code });
