import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { inOneFlight } from '../../platform/database/in-one-flight';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { mayAct } from '../../resource/may-act';
import { ResourceReader } from '../../store/resource-reader';
import { Sessions } from '../../session/sessions';
import { type Client } from '../client/client';
import { ClientAuthenticator } from '../client/client-authenticator';
import { OAuthError, WRONG_CREDENTIALS } from '../oauth/oauth-error';

/** The User that a token is issued to. */
export interface TokenUser {
  readonly id: string;
  /** The stored resource: its secrets are masked. */
  readonly text: string;
  /** Numbers are doubles. */
  readonly value: Resource;
}

/** The User and the Client that a token is issued to. */
@Injectable()
export class TokenOwners {
  constructor(
    private readonly sessions: Sessions,
    private readonly clients: ClientAuthenticator,
    private readonly reader: ResourceReader,
    private readonly epoch: RegistryEpoch,
  ) {}

  /**
   * Reads both again in the open unit of work and locks them: a concurrent deactivation waits for the new
   * Session, and closes it.
   * @throws OAuthError when one of them is deleted or inactive.
   */
  async hold(client: Client, userId: string): Promise<TokenUser> {
    const [, stored] = await inOneFlight([
      this.holdAll({ clientId: client.id, userId }),
      this.reader.find('User', userId),
    ]);
    await this.clients.assertActive(client.id);
    if (stored === undefined) throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'the user is deleted');
    const value = JSON.parse(stored.text) as Resource;
    if (!mayAct('User', value)) throw new OAuthError('invalid_grant', 'User is inactive');
    return { id: userId, text: stored.text, value };
  }

  /** The same for a token of the Client itself. */
  async holdClient({ id: clientId }: Client): Promise<void> {
    await this.holdAll({ clientId });
    await this.clients.assertActive(clientId);
  }

  /** The epoch is read again behind the locks: what is cached of the Client holds while it stays. */
  private async holdAll(owners: { readonly clientId: string; readonly userId?: string }): Promise<void> {
    await inOneFlight([this.sessions.holdOwners(owners), this.epoch.readAgain()]);
  }
}
