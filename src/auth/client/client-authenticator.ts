import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { KeptByRights, RegistryEpoch } from '../../platform/database/registry-epoch';
import { RequestContext } from '../../platform/request/request-context';
import { ResourceReader } from '../../store/resource-reader';
import { CredentialGuard } from '../guessing/credential-guard';
import { type BasicCredentials } from '../oauth/basic-credentials';
import { OAuthError } from '../oauth/oauth-error';
import { type Client, clientOf } from './client';
import { ClientSecrets, secretHashOf } from './client-secrets.repository';

interface KnownClient extends Client {
  readonly secretHash: Buffer | undefined;
}

/** Finds the Client that calls an OAuth endpoint (RFC 6749, section 2.3), and checks its secret. */
@Injectable()
export class ClientAuthenticator {
  /** Clients by id, cached until the rights epoch (a counter of changes of rights) rises. */
  private readonly known: KeptByRights<KnownClient | undefined>;

  constructor(
    epoch: RegistryEpoch,
    private readonly reader: ResourceReader,
    private readonly secrets: ClientSecrets,
    private readonly guesses: CredentialGuard,
    private readonly requests: RequestContext,
  ) {
    this.known = new KeptByRights(epoch, (id) => this.read(id));
  }

  /**
   * Authenticates a Client. If a secret is sent, it is checked even if the Client need not send one.
   * @param requiresSecret whether the Client must send a secret
   * @throws OAuthError invalid_client; ServiceError 'throttled'
   */
  async authenticate(credentials: BasicCredentials, requiresSecret: (client: Client) => boolean): Promise<Client> {
    const { id, secrets } = credentials;
    const found = await this.find(id);
    // Secrets of unknown Clients are judged too: throttling must not reveal which Clients exist.
    const isRight = await this.isRight(credentials, found);
    const client = activeOf(found);
    if (secrets.length > 0) {
      if (!isRight) throw failed('wrong secret', id);
    } else if (requiresSecret(client)) {
      throw failed('the secret is missing', id);
    }
    return client;
  }

  /** @throws OAuthError invalid_client for a deleted or inactive Client. */
  async assertActive(id: string): Promise<void> {
    activeOf(await this.find(id));
  }

  /** Finds the Client of HTTP Basic credentials on any route, if `basic` is among its grant types. */
  async findByBasic(credentials: BasicCredentials): Promise<Client | undefined> {
    const client = await this.find(credentials.id);
    const mayCall = client !== undefined && client.isActive && client.grantTypes.includes('basic');
    const isRight = await this.isRight(credentials, client);
    return mayCall && isRight ? client : undefined;
  }

  private async find(id: string): Promise<KnownClient | undefined> {
    const client = await this.known.get(id);
    if (client !== undefined) this.requests.claim({ clientId: id });
    return client;
  }

  private async read(id: string): Promise<KnownClient | undefined> {
    const stored = await this.reader.find('Client', id);
    return stored === undefined ? undefined : { ...clientOf(stored.text), secretHash: await this.secrets.find(id) };
  }

  private async isRight({ id, secrets }: BasicCredentials, client: KnownClient | undefined): Promise<boolean> {
    if (secrets.length === 0) return false;
    const hash = client?.secretHash;
    const isEqual = hash !== undefined && secrets.some((secret) => timingSafeEqual(hash, secretHashOf(secret)));
    await this.guesses.countSecret(id, secrets, isEqual);
    return isEqual;
  }
}

function activeOf(client: KnownClient | undefined): KnownClient {
  // The id is not logged here: an unknown id may be anything, even a secret.
  if (client === undefined) throw failed('unknown client');
  if (!client.isActive) throw failed('the client is inactive', client.id);
  return client;
}

const failed = (reason: string, clientId?: string): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', reason, clientId);
