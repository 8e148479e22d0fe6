import { Injectable } from '@nestjs/common';
import { inOneFlight } from '../../platform/database/in-one-flight';
import { type JsonText } from '../../platform/json/json-text';
import { Clock } from '../../platform/time/clock';
import { type GrantedFamily, RefreshTokens } from '../../session/refresh-tokens.repository';
import { Sessions } from '../../session/sessions';
import { type Client, settingsOf } from '../client/client';
import { Userinfo } from '../user/userinfo';
import { AccessTokens } from './access-tokens';
import { type TokenUser } from './token-owners';

/** RFC 6749, section 5.1, with the User (interface, "Token response"). */
export interface TokenResponse {
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly access_token: string;
  readonly refresh_token?: string;
  /** What was granted of the scope that was asked for. */
  readonly scope?: string;
  /** Absent for a token of the client itself. */
  readonly userinfo?: JsonText;
}

export interface TokenOrder {
  readonly client: Client;
  /** Absent for a token of the client itself. */
  readonly user?: TokenUser;
  /** Whose settings hold: the grant that was asked for, or that a refresh token goes back to. */
  readonly grantType: string;
  /** Scope tokens, separated by spaces. */
  readonly scope?: string;
  readonly audience?: string;
  /** The Session and family of the refresh token that was used up for this. */
  readonly successorOf?: { readonly sessionId: string; readonly familyId: string };
}

export interface IssuedTokens {
  readonly sessionId: string;
  readonly response: TokenResponse;
}

/** Issues an access token with its Session, and a refresh token where the Client has them; in the open unit of work. */
@Injectable()
export class TokenIssuer {
  constructor(
    private readonly sessions: Sessions,
    private readonly refreshTokens: RefreshTokens,
    private readonly accessTokens: AccessTokens,
    private readonly userinfo: Userinfo,
    private readonly clock: Clock,
  ) {}

  async issue(order: TokenOrder): Promise<TokenResponse> {
    return (await this.issueWithSession(order)).response;
  }

  async issueWithSession(order: TokenOrder): Promise<IssuedTokens> {
    const { client, user, grantType, scope, audience, successorOf } = order;
    const settings = settingsOf(client, grantType);
    const issuedAt = this.clock.now();
    const sessionId = Sessions.newId();
    const audiences = audience === undefined ? settings.audience : [audience];
    const token = await this.accessTokens.make(settings, {
      sessionId,
      clientId: client.id,
      userId: user?.id,
      issuedAt,
      scope,
      audience: audiences,
    });
    const refreshExpiry = refreshExpiryOf(settings.refreshTokenLifetimeSeconds, issuedAt);
    const [, refreshToken, userinfo] = await inOneFlight([
      this.sessions.open({
        id: sessionId,
        grantType: successorOf === undefined ? grantType : 'refresh_token',
        clientId: client.id,
        accessToken: token.text,
        jti: token.jti,
        issuer: token.issuer,
        expiresAt: secondsAfter(issuedAt, settings.tokenLifetimeSeconds),
        ...(token.kid === undefined ? {} : { kid: token.kid }),
        ...(user === undefined ? {} : { userId: user.id }),
        ...(settings.issuesRefreshToken ? { refresh: refreshExpiry } : {}),
        ...(successorOf === undefined ? {} : { parentId: successorOf.sessionId }),
        ...(scope === undefined ? {} : { scope }),
        ...(audiences.length === 0 ? {} : { audience: audiences.join(' ') }),
      }),
      settings.issuesRefreshToken
        ? this.refreshTokens.issue({
            ...familyOf(order),
            ...refreshExpiry,
            sessionId,
            ...(successorOf === undefined ? {} : { familyId: successorOf.familyId }),
          })
        : undefined,
      user === undefined ? undefined : this.userinfo.of(user),
    ]);
    const response = {
      token_type: 'Bearer',
      expires_in: settings.tokenLifetimeSeconds,
      access_token: token.text,
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      ...(scope === undefined ? {} : { scope }),
      ...(userinfo === undefined ? {} : { userinfo }),
    } as const;
    return { sessionId, response };
  }
}

function familyOf({ client, user, grantType, scope, audience }: TokenOrder): GrantedFamily {
  return {
    clientId: client.id,
    grantType,
    ...(user === undefined ? {} : { userId: user.id }),
    ...(scope === undefined ? {} : { scope }),
    ...(audience === undefined ? {} : { audience }),
  };
}

const refreshExpiryOf = (lifetimeSeconds: number | undefined, issuedAt: Date): { expiresAt?: Date } =>
  lifetimeSeconds === undefined ? {} : { expiresAt: secondsAfter(issuedAt, lifetimeSeconds) };

const secondsAfter = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1000);
