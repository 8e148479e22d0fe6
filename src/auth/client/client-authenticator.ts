import { Injectable } from '@nestjs/common';
import { ResourceReader } from '../../resource/resource-reader';
import { type BasicCredentials } from '../token/basic-credentials';
import { OAuthError } from '../token/oauth-error';
import { type Client, clientOf } from './client';
import { ClientSecrets } from './client-secrets.repository';

/** Finds the Client that calls an endpoint of OAuth (RFC 6749, section 2.3). */
@Injectable()
export class ClientAuthenticator {
  constructor(
    private readonly reader: ResourceReader,
    private readonly secrets: ClientSecrets,
  ) {}

  /**
   * A secret that is sent must be right in any case.
   * @param requiresSecret whether one has to be sent
   * @throws OAuthError invalid_client
   */
  async authenticate({ id, secrets }: BasicCredentials, requiresSecret: (client: Client) => boolean): Promise<Client> {
    const client = await this.findActive(id);
    if (secrets.length > 0) {
      if (!(await this.secrets.isRight(id, secrets))) throw failed('wrong secret', id);
    } else if (requiresSecret(client)) {
      throw failed('the secret is missing', id);
    }
    return client;
  }

  /** @throws OAuthError invalid_client for a Client that is deleted or inactive. */
  async assertActive(id: string): Promise<void> {
    await this.findActive(id);
  }

  /** The Client of HTTP Basic credentials on any call, or undefined: it needs `basic` among its grant types. */
  async findByBasic({ id, secrets }: BasicCredentials): Promise<Client | undefined> {
    const client = await this.find(id);
    const mayCall = client !== undefined && client.isActive && client.grantTypes.includes('basic');
    return mayCall && (await this.secrets.isRight(id, secrets)) ? client : undefined;
  }

  private async findActive(id: string): Promise<Client> {
    const client = await this.find(id);
    // What was sent as the id of an unknown client may be anything, a secret too: it is not logged.
    if (client === undefined) throw failed('unknown client');
    if (!client.isActive) throw failed('the client is inactive', id);
    return client;
  }

  private async find(id: string): Promise<Client | undefined> {
    const stored = await this.reader.find('Client', id);
    return stored === undefined ? undefined : clientOf(stored.text);
  }
}

const failed = (reason: string, clientId?: string): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', reason, clientId);
