import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type Client } from '../client';
import { CredentialGuard } from '../guessing/credential-guard';
import { isWrongCredentials, OAuthError, WRONG_CREDENTIALS } from '../oauth-error';
import { PasswordStrategy } from '../password.strategy';
import { TokenIssuer, type TokenResponse } from '../token-issuer';
import { TokenOwners } from '../token-owners';
import { type TokenRequest } from '../token-request';
import { type Grant, GrantOf } from './grant';

/** RFC 6749, section 4.3; for first-party clients only, since the client sees the password (interface, "Authentication"). */
@Injectable()
@GrantOf('password')
export class PasswordGrant implements Grant {
  constructor(
    private readonly passwords: PasswordStrategy,
    private readonly owners: TokenOwners,
    private readonly issuer: TokenIssuer,
    private readonly unitOfWork: UnitOfWork,
    private readonly guesses: CredentialGuard,
  ) {}

  async exchange(client: Client, request: TokenRequest): Promise<TokenResponse> {
    if (!client.grantTypes.includes('password')) {
      throw new OAuthError('unauthorized_client', 'The client may not use the password grant');
    }
    const username = request.parameter('username');
    const password = request.parameter('password');
    if (username === undefined) throw new OAuthError('invalid_request', 'username is missing');
    if (password === undefined) throw new OAuthError('invalid_request', 'password is missing');
    return this.guesses.judge('user', username, () => this.issueFor(client, username, password), isWrongCredentials);
  }

  private async issueFor(client: Client, username: string, password: string): Promise<TokenResponse> {
    const { userId, passwordHash } = await this.passwords.authenticate(username, password);
    return this.unitOfWork.run(async () => {
      const user = await this.owners.hold(client, userId);
      if ((await this.passwords.hashOf(userId)) !== passwordHash)
        throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'the password was changed meanwhile');
      return this.issuer.issue({ client, user, grantType: 'password' });
    });
  }
}
