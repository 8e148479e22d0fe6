import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type JsonText } from '../../platform/json/json-text';
import { Clock } from '../../platform/time/clock';
import { type NewRefreshToken } from '../../session/refresh-tokens.repository';
import { Sessions } from '../../session/sessions';
import { newOpaqueToken } from '../../session/token-hash';
import { type Client, type GrantSettings, settingsOf } from '../client/client';
import { AccessTokens } from './access-tokens';
import { type TokenUser } from './token-users';

/** RFC 6749, section 5.1, with the User (interface, "Token response"). */
export interface TokenResponse {
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly access_token: string;
  readonly refresh_token?: string;
  /** The granted scope. */
  readonly scope?: string;
  /** Absent for a token of the client itself. */
  readonly userinfo?: JsonText;
}

export interface TokenOrder {
  readonly client: Client;
  /** Absent for a token of the client itself. */
  readonly user?: TokenUser | undefined;
  /** Whose settings hold: the grant that was asked for, or that a refresh token goes back to. */
  readonly grantType: string;
  /** Scope tokens, separated by spaces. */
  readonly scope?: string | undefined;
  readonly audience?: string | undefined;
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
  /** @internal */
  constructor(
    private readonly sessions: Sessions,
    private readonly accessTokens: AccessTokens,
    private readonly clock: Clock,
  ) {}

  async issue(order: TokenOrder): Promise<TokenResponse> {
    return (await this.issueWithSession(order)).response;
  }

  /** @internal */
  async issueWithSession(order: TokenOrder): Promise<IssuedTokens> {
    const { client, user, grantType, scope, audience, successorOf } = order;
    const settings = settingsOf(client, grantType);
    const issuedAt = this.clock.now();
    const sessionId = randomUUID();
    const owners = { clientId: client.id, userId: user?.id };
    const audiences = audience === undefined ? settings.audience : [audience];
    const token = await this.accessTokens.make(settings, {
      ...owners,
      sessionId,
      issuedAt,
      scope,
      audience: audiences,
    });
    const refresh = settings.issuesRefreshToken ? newRefreshToken(order, settings, issuedAt) : undefined;
    await this.sessions.open({
      ...owners,
      id: sessionId,
      grantType: successorOf === undefined ? grantType : 'refresh_token',
      accessToken: token.text,
      jti: token.jti,
      issuer: token.issuer,
      kid: token.kid,
      expiresAt: secondsAfter(issuedAt, settings.tokenLifetimeSeconds),
      refresh,
      parentId: successorOf?.sessionId,
      scope,
      audience: audiences.length === 0 ? undefined : audiences.join(' '),
    });
    const response = {
      token_type: 'Bearer',
      expires_in: settings.tokenLifetimeSeconds,
      access_token: token.text,
      ...(refresh === undefined ? {} : { refresh_token: refresh.token }),
      ...(scope === undefined ? {} : { scope }),
      ...(user === undefined ? {} : { userinfo: user.userinfo }),
    } as const;
    return { sessionId, response };
  }
}

/** The first of a family, or the successor of one that was used. */
function newRefreshToken(
  { grantType, scope, audience, successorOf }: TokenOrder,
  { refreshTokenLifetimeSeconds: seconds }: GrantSettings,
  issuedAt: Date,
): NewRefreshToken {
  return {
    token: newOpaqueToken(),
    familyId: successorOf?.familyId ?? randomUUID(),
    grantType,
    scope,
    audience,
    expiresAt: seconds === undefined ? undefined : secondsAfter(issuedAt, seconds),
  };
}

const secondsAfter = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1000);
