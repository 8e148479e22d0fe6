import { Injectable } from '@nestjs/common';
import {
  type Client,
  type Grant,
  GrantOf,
  OAuthError,
  Sessions,
  TokenIssuer,
  TokenOwners,
  type TokenRequest,
  type TokenResponse,
  UnitOfWork,
} from 'svc-health-server';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';

@Injectable()
@GrantOf(GRANT_TYPE)
export class TokenExchangeGrant implements Grant {
  constructor(
    private readonly owners: TokenOwners,
    private readonly issuer: TokenIssuer,
    private readonly sessions: Sessions,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async exchange(client: Client, request: TokenRequest): Promise<TokenResponse> {
    const { userId } = (await this.sessions.find(request.parameter('subject_token') ?? '')) ?? {};
    if (userId === undefined) throw new OAuthError('invalid_grant', 'subject_token is no live token of a User');
    return this.unitOfWork.run(async () => {
      const user = await this.owners.hold(client, userId);
      return this.issuer.issue({ client, user, grantType: GRANT_TYPE });
    });
  }
}
