import { Injectable } from '@nestjs/common';
import { type Resource } from '../fhir/types';
import { ResourceReader } from '../resource/resource-reader';
import { Sessions } from '../session/sessions';
import { type Client } from './client';
import { ClientAuthenticator } from './client-authenticator';
import { OAuthError, WRONG_CREDENTIALS } from './oauth-error';

export type TokenUser = Resource & { readonly id: string };

/** The User and the Client that a token is issued to. */
@Injectable()
export class TokenOwners {
  constructor(
    private readonly sessions: Sessions,
    private readonly clients: ClientAuthenticator,
    private readonly reader: ResourceReader,
  ) {}

  /**
   * Reads both again in the open unit of work and keeps them: whoever is shut out in the meantime waits for the new
   * Session, and closes it.
   * @throws OAuthError when one of them is deleted or inactive.
   */
  async hold({ id: clientId }: Client, userId: string): Promise<TokenUser> {
    await this.sessions.holdOwner({ clientId });
    await this.sessions.holdOwner({ userId });
    await this.clients.assertActive(clientId);
    const stored = await this.reader.find('User', userId);
    if (stored === undefined) throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'the user is deleted');
    const user = JSON.parse(stored.text) as Resource;
    if (user.inactive === true) throw new OAuthError('invalid_grant', 'User is inactive');
    return { ...user, id: userId };
  }
}
