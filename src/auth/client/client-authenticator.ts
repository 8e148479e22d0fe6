import { Injectable } from '@nestjs/common';
import { RequestContext } from '../../platform/http/request-context';
import { ClientSecretCheck } from '../guessing/client-secret-check';
import { type BasicCredentials } from '../token/basic-credentials';
import { OAuthError } from '../token/oauth-error';
import { type Client } from './client';
import { type KnownClient, KnownClients } from './known-clients';

/** Finds the Client that calls an endpoint of OAuth (RFC 6749, section 2.3). */
@Injectable()
export class ClientAuthenticator {
  constructor(
    private readonly known: KnownClients,
    private readonly secrets: ClientSecretCheck,
    private readonly requests: RequestContext,
  ) {}

  /**
   * A secret that is sent must be right in any case.
   * @param requiresSecret whether one has to be sent
   * @throws OAuthError invalid_client
   */
  async authenticate({ id, secrets }: BasicCredentials, requiresSecret: (client: Client) => boolean): Promise<Client> {
    const found = await this.find(id);
    // Checked for unknown Clients too: a throttled caller must not learn which ones exist.
    const isRight = await this.secrets.isRight(id, found?.secretHash, secrets);
    const client = activeOf(found);
    if (secrets.length > 0) {
      if (!isRight) throw failed('wrong secret', id);
    } else if (requiresSecret(client)) {
      throw failed('the secret is missing', id);
    }
    return client;
  }

  /** @throws OAuthError invalid_client for a Client that is deleted or inactive. */
  async assertActive(id: string): Promise<void> {
    activeOf(await this.find(id));
  }

  /** The Client of HTTP Basic credentials on any call, or undefined: it needs `basic` among its grant types. */
  async findByBasic({ id, secrets }: BasicCredentials): Promise<Client | undefined> {
    const client = await this.find(id);
    const mayCall = client !== undefined && client.isActive && client.grantTypes.includes('basic');
    const isRight = await this.secrets.isRight(id, client?.secretHash, secrets);
    return mayCall && isRight ? client : undefined;
  }

  private async find(id: string): Promise<KnownClient | undefined> {
    const client = await this.known.find(id);
    if (client !== undefined) this.requests.claim({ clientId: id });
    return client;
  }
}

function activeOf(client: Client | undefined): Client {
  // What was sent as the id of an unknown client may be anything, a secret too: it is not logged.
  if (client === undefined) throw failed('unknown client');
  if (!client.isActive) throw failed('the client is inactive', client.id);
  return client;
}

const failed = (reason: string, clientId?: string): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', reason, clientId);
