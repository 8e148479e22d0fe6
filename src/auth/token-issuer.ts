import { Injectable } from '@nestjs/common';
import { type Resource } from '../fhir/types';
import { Clock } from '../platform/time/clock';
import { RefreshTokens } from '../session/refresh-tokens.repository';
import { Sessions } from '../session/sessions';
import { AccessTokens } from './access-tokens';
import { type Client } from './client';
import { type TokenUser } from './token-owners';

/** RFC 6749, section 5.1, with the User (interface, "Token response"). */
export interface TokenResponse {
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly userinfo: Resource;
}

export interface TokenOrder {
  readonly client: Client;
  readonly user: TokenUser;
  readonly grantType: string;
  /** The Session and family of the refresh token that was used up for this. */
  readonly successorOf?: { readonly sessionId: string; readonly familyId: string };
}

/** Issues an access token with its Session, and a refresh token where the Client has them; in the open unit of work. */
@Injectable()
export class TokenIssuer {
  constructor(
    private readonly sessions: Sessions,
    private readonly refreshTokens: RefreshTokens,
    private readonly accessTokens: AccessTokens,
    private readonly clock: Clock,
  ) {}

  async issue({ client, user, grantType, successorOf }: TokenOrder): Promise<TokenResponse> {
    const { tokenLifetimeSeconds, issuesRefreshToken, refreshTokenLifetimeSeconds } = client.password;
    const issuedAt = this.clock.now();
    const sessionId = Sessions.newId();
    const accessToken = await this.accessTokens.make(client, { userId: user.id, sessionId, issuedAt });
    const parent = successorOf === undefined ? {} : { parentId: successorOf.sessionId };
    await this.sessions.open({
      id: sessionId,
      grantType,
      userId: user.id,
      clientId: client.id,
      accessToken,
      expiresAt: secondsAfter(issuedAt, tokenLifetimeSeconds),
      ...parent,
    });
    const refreshToken = issuesRefreshToken
      ? await this.refreshTokens.issue({
          sessionId,
          userId: user.id,
          clientId: client.id,
          ...(successorOf === undefined ? {} : { familyId: successorOf.familyId }),
          ...(refreshTokenLifetimeSeconds === undefined
            ? {}
            : { expiresAt: secondsAfter(issuedAt, refreshTokenLifetimeSeconds) }),
        })
      : undefined;
    return {
      token_type: 'Bearer',
      expires_in: tokenLifetimeSeconds,
      access_token: accessToken,
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      userinfo: userinfoOf(user),
    };
  }
}

const secondsAfter = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1000);

/** The whole User but its secrets; `sub` as OpenID Connect names it. */
function userinfoOf(user: Resource): Resource {
  const { password, twoFactor, ...shown } = user;
  return { ...shown, resourceType: 'User', sub: user.id };
}
