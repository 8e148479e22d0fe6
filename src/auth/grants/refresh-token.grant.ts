import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { RefreshTokens } from '../../session/refresh-tokens.repository';
import { Sessions } from '../../session/sessions';
import { type Client } from '../client';
import { OAuthError } from '../oauth-error';
import { TokenIssuer, type TokenResponse } from '../token-issuer';
import { TokenOwners } from '../token-owners';
import { type TokenRequest } from '../token-request';
import { type Grant, GrantOf } from './grant';

/**
 * RFC 6749, section 6, with rotation: the token is used up, its Session closes, and a child Session opens.
 * Of concurrent uses exactly one wins.
 */
@Injectable()
@GrantOf('refresh_token')
export class RefreshTokenGrant implements Grant {
  constructor(
    private readonly refreshTokens: RefreshTokens,
    private readonly sessions: Sessions,
    private readonly owners: TokenOwners,
    private readonly issuer: TokenIssuer,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async exchange(client: Client, request: TokenRequest): Promise<TokenResponse> {
    const refreshToken = request.parameter('refresh_token');
    if (refreshToken === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing');
    if (!client.password.issuesRefreshToken)
      throw new OAuthError('unauthorized_client', 'The client may not use refresh tokens');
    const userId = await this.refreshTokens.findUserId(refreshToken, client.id);
    if (userId === undefined) throw notValid();
    return this.unitOfWork.run(async () => {
      const user = await this.owners.hold(client, userId);
      const used = await this.refreshTokens.consume(refreshToken, client.id);
      if (used === undefined) throw notValid();
      await this.sessions.close(used.sessionId);
      return this.issuer.issue({ client, user, grantType: 'refresh_token', successorOf: used });
    });
  }
}

const notValid = (): OAuthError =>
  new OAuthError('invalid_grant', 'The refresh token is not valid', 'unknown, used, expired or foreign');
