import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { RequestContext } from '../../platform/request/request-context';
import { type Client } from '../client/client';
import { CredentialGuard } from '../guessing/credential-guard';
import { OAuthError, wrongCredentials } from '../oauth/oauth-error';
import { TokenIssuer, type TokenOrder, type TokenResponse } from '../token/token-issuer';
import { TokenOwners } from '../token/token-owners';
import { type TokenRequest } from '../oauth/token-request';
import { PasswordStrategy } from '../user/password.strategy';
import { TwoFactor } from '../user/two-factor';
import { type LoginOwner, UserLogins } from '../user/user-logins.repository';
import { type Grant, GrantOf } from './grant';

interface Login {
  readonly username: string;
  readonly password: string;
  readonly code: string | undefined;
  /** The User that the sent username resolves to; undefined if there is none. */
  readonly owner: LoginOwner | undefined;
}

/** The password grant (RFC 6749, section 4.3), for first-party clients only, since the client sees the password. */
@Injectable()
@GrantOf('password')
export class PasswordGrant implements Grant {
  readonly costsHash = true;

  constructor(
    private readonly logins: UserLogins,
    private readonly passwords: PasswordStrategy,
    private readonly twoFactor: TwoFactor,
    private readonly owners: TokenOwners,
    private readonly issuer: TokenIssuer,
    private readonly unitOfWork: UnitOfWork,
    private readonly guesses: CredentialGuard,
    private readonly requests: RequestContext,
  ) {}

  async exchange(client: Client, request: TokenRequest): Promise<TokenResponse> {
    const requested = this.issuer.orderOf(client, request);
    const username = request.parameter('username');
    const password = request.parameter('password');
    if (username === undefined) throw new OAuthError('invalid_request', 'username is missing');
    if (password === undefined) throw new OAuthError('invalid_request', 'password is missing');
    const code = request.parameter('totp');
    const owner = await this.logins.find(username);
    if (owner !== undefined) this.requests.claim({ userId: owner.userId });
    return this.guesses.judge(
      owner === undefined ? { kind: 'login', name: username } : { kind: 'user', name: owner.userId },
      [password, ...(code === undefined ? [] : [code])],
      () => this.issueFor(requested, { username, password, code, owner }),
    );
  }

  private async issueFor(
    requested: Omit<TokenOrder, 'user'>,
    { username, password, code, owner }: Login,
  ): Promise<TokenResponse> {
    const verified = await this.passwords.authenticate(username, password, owner);
    await this.owners.prepare(verified.userId);
    return this.unitOfWork.run(async () => {
      const user = await this.owners.hold(requested.client, verified.userId);
      if (!(await this.passwords.isCurrent(verified))) throw wrongCredentials('the password was changed meanwhile');
      await this.twoFactor.assertPassed(user.value, code);
      this.unitOfWork.afterCommit(() => this.passwords.renewHash(verified, password));
      return this.issuer.issue({ ...requested, user });
    });
  }
}
