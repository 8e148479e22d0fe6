import { Injectable } from '@nestjs/common';
import { mayAct } from '../../resource/may-act';
import { Sessions } from '../../session/sessions';
import { type Client } from '../client/client';
import { ClientAuthenticator } from '../client/client-authenticator';
import { OAuthError, WRONG_CREDENTIALS } from '../oauth/oauth-error';
import { type TokenUser, TokenUsers } from './token-users';

/**
 * The User and the Client that a token is issued to. Both are known as of the epoch of rights of the request, and the statement that
 * opens the Session compares it behind the locks. Where one of them was changed meanwhile, the unit of work starts over, and reads
 * both again behind the locks.
 */
@Injectable()
export class TokenOwners {
  /** @internal */
  constructor(
    private readonly sessions: Sessions,
    private readonly clients: ClientAuthenticator,
    private readonly users: TokenUsers,
  ) {}

  /** Reads a User ahead of the unit of work: what a transaction reads is not kept. */
  async prepare(userId: string): Promise<void> {
    await this.users.find(userId);
  }

  /**
   * Locks both in the open unit of work: a concurrent deactivation waits for the new Session, and closes it.
   * @throws OAuthError when one of them is deleted or inactive.
   */
  async hold(client: Client, userId: string): Promise<TokenUser> {
    await this.sessions.holdOwners({ clientId: client.id, userId });
    await this.clients.assertActive(client.id);
    const user = await this.users.find(userId);
    if (user === undefined) throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'the user is deleted');
    if (!mayAct('User', user.value)) throw new OAuthError('invalid_grant', 'User is inactive');
    return user;
  }

  /** The same for a token of the Client itself. */
  async holdClient({ id: clientId }: Client): Promise<void> {
    await this.sessions.holdOwners({ clientId });
    await this.clients.assertActive(clientId);
  }
}
