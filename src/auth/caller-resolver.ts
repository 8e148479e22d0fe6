import { Injectable } from '@nestjs/common';
import { type Epochs } from '../platform/database/epochs';
import { RegistryEpoch } from '../platform/database/registry-epoch';
import { ServiceError } from '../platform/errors/service-error';
import { type Caller } from '../platform/http/caller';
import { Sessions } from '../session/sessions';
import { basicCredentialsOf } from './token/basic-credentials';
import { ClientAuthenticator } from './client/client-authenticator';

/** Finds out who calls. A bearer token is looked up on every request, so a closed Session is refused at once on every replica. */
@Injectable()
export class CallerResolver {
  constructor(
    private readonly sessions: Sessions,
    private readonly clients: ClientAuthenticator,
    private readonly registryEpoch: RegistryEpoch,
  ) {}

  /** @throws ServiceError 'unauthorized' */
  async resolve(authorization: string | undefined): Promise<{ caller: Caller; epochs: Epochs }> {
    if (authorization === undefined) throw unauthorized('Send an access token: Authorization: Bearer <token>.');
    // RFC 6750, section 2.1: b64token
    const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization)?.[1];
    if (bearer !== undefined) return this.resolveBearer(bearer);
    const basic = basicCredentialsOf(authorization);
    if (basic === undefined)
      throw unauthorized('The Authorization header holds neither a Bearer token nor Basic credentials.');
    const client = await this.clients.findByBasic(basic);
    if (client === undefined)
      throw unauthorized('The client id or secret is wrong, or the client may not use HTTP Basic.');
    return { caller: { clientId: client.id }, epochs: await this.registryEpoch.current() };
  }

  private async resolveBearer(token: string): Promise<{ caller: Caller; epochs: Epochs }> {
    const session = await this.sessions.find(token);
    if (session === undefined) {
      throw new ServiceError(
        'unauthorized',
        'The access token is not valid: unknown, expired, or its Session is closed. Get another one with POST /auth/token.',
        {
          isInvalidToken: true,
        },
      );
    }
    const { epochs, ...caller } = session;
    return { caller, epochs };
  }
}

const unauthorized = (message: string): ServiceError => new ServiceError('unauthorized', message);
