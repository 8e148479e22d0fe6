import { Injectable } from '@nestjs/common';
import { RequestContext } from '../platform/http/request-context';
import { ResourceReader } from '../resource/resource-reader';
import { type BasicCredentials } from './basic-credentials';
import { type Client, clientOf } from './client';
import { ClientSecretCheck } from './guessing/client-secret-check';
import { OAuthError } from './oauth-error';

/** Finds the Client that calls the token endpoint (RFC 6749, section 2.3). */
@Injectable()
export class ClientAuthenticator {
  constructor(
    private readonly reader: ResourceReader,
    private readonly secrets: ClientSecretCheck,
    private readonly requests: RequestContext,
  ) {}

  /**
   * A secret is needed where the Client's settings ask for it; one that is sent must be right in any case.
   * @throws OAuthError invalid_client
   */
  async authenticate({ id, secrets }: BasicCredentials): Promise<Client> {
    const found = await this.find(id);
    // Asked for unknown Clients too: who is throttled must not learn from it which ones exist.
    const isRight = await this.secrets.isRight(id, secrets);
    const client = activeOf(found);
    if (secrets.length > 0) {
      if (!isRight) throw failed('wrong secret');
    } else if (client.password.requiresSecret) {
      throw failed('the secret is missing');
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
    const isRight = await this.secrets.isRight(id, secrets);
    return mayCall && isRight ? client : undefined;
  }

  private async find(id: string): Promise<Client | undefined> {
    const stored = await this.reader.find('Client', id);
    if (stored !== undefined) this.requests.claim({ clientId: id });
    return stored === undefined ? undefined : clientOf(stored.text);
  }
}

function activeOf(client: Client | undefined): Client {
  if (client === undefined) throw failed('unknown client');
  if (!client.isActive) throw failed('the client is inactive');
  return client;
}

const failed = (reason: string): OAuthError => new OAuthError('invalid_client', 'Client authentication failed', reason);
