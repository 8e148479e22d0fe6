import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Environment } from '../../platform/config/environment';
import { type JsonText } from '../../platform/json/json-text';
import { Clock, epochSeconds } from '../../platform/time/clock';
import { newOpaqueToken, type NewRefreshToken, type NewSession } from '../../session/session-tokens.repository';
import { Sessions } from '../../session/sessions';
import { type Client, type GrantSettings, settingsOf } from '../client/client';
import { SigningKeys } from '../keys/signing-keys.repository';
import { OAuthError } from '../oauth/oauth-error';
import { grantedScope, type TokenRequest } from '../oauth/token-request';
import { type TokenUser } from './token-owners';

/** The response of the token endpoint (RFC 6749, section 5.1), with the User. */
export interface TokenResponse {
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly access_token: string;
  readonly refresh_token?: string;
  /** The granted scope tokens, separated by spaces. */
  readonly scope?: string;
  /** Absent for a token of the client itself. */
  readonly userinfo?: JsonText;
}

export interface TokenOrder {
  readonly client: Client;
  /** Absent for a token of the client itself. */
  readonly user?: TokenUser | undefined;
  /**
   * The grant whose settings apply: the requested grant or, for a refresh token, the grant by which the login began.
   */
  readonly grantType: string;
  /** Scope tokens, separated by spaces. */
  readonly scope?: string | undefined;
  readonly audience?: string | undefined;
  /** The refresh token that is exchanged: its Session, and its family (a refresh token with all its successors). */
  readonly successorOf?: { readonly sessionId: string; readonly familyId: string };
}

type AccessToken = Pick<NewSession, 'accessToken' | 'jti' | 'kid'>;

/**
 * Issues an access token with its Session, and a refresh token if the Client's settings say so, in the open unit of
 * work.
 * @example
 * const response = await unitOfWork.run(async () => {
 *   const user = await owners.hold(client, 'nurse');
 *   return issuer.issue({ client, user, grantType: 'urn:acme:badge' });
 * });
 */
@Injectable()
export class TokenIssuer {
  /** @internal */
  constructor(
    private readonly sessions: Sessions,
    private readonly keys: SigningKeys,
    private readonly jwt: JwtService,
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  /**
   * Checks the requested scope and audience against the Client, before anything expensive runs.
   * @throws OAuthError invalid_scope, invalid_target
   * @internal
   */
  orderOf(client: Client, request: TokenRequest): Omit<TokenOrder, 'user'> {
    const { grantType } = request;
    const scope = grantedScope(request.parameter('scope'), client.scopes);
    if (scope === null)
      throw new OAuthError('invalid_scope', 'scope must hold only what the scope of the client lists');
    const audience = request.parameter('audience');
    const allowed = [this.environment.baseUrl, ...settingsOf(client, grantType).audience];
    if (audience !== undefined && !allowed.includes(audience))
      throw new OAuthError('invalid_target', 'audience must be one of those of the client');
    return { client, grantType, scope, audience };
  }

  async issue(order: TokenOrder): Promise<TokenResponse> {
    const { client, user, grantType, scope, audience, successorOf } = order;
    const settings = settingsOf(client, grantType);
    const { tokenLifetimeSeconds: lifetime } = settings;
    const issuedAt = this.clock.now();
    const sessionId = randomUUID();
    const audiences = audience === undefined ? settings.audience : [audience];
    const token = settings.isJwt
      ? await this.jwtOf(order, { sessionId, issuedAt, lifetime, audiences })
      : { accessToken: newOpaqueToken(), jti: randomUUID(), kid: undefined };
    const refresh = settings.issuesRefreshToken ? newRefreshToken(order, settings, issuedAt) : undefined;
    await this.sessions.open({
      ...token,
      id: sessionId,
      clientId: client.id,
      userId: user?.id,
      grantType: successorOf === undefined ? grantType : 'refresh_token',
      issuer: this.environment.baseUrl,
      expiresAt: secondsAfter(issuedAt, lifetime),
      refresh,
      parentId: successorOf?.sessionId,
      scope,
      audience: audiences.length === 0 ? undefined : audiences.join(' '),
    });
    return {
      token_type: 'Bearer',
      expires_in: lifetime,
      access_token: token.accessToken,
      ...(refresh === undefined ? {} : { refresh_token: refresh.token }),
      ...(scope === undefined ? {} : { scope }),
      ...(user === undefined ? {} : { userinfo: user.userinfo }),
    };
  }

  /** Makes a JWT access token (RFC 9068). In a token of the client itself, the subject is the client (section 2.2). */
  private async jwtOf(
    { client, user, scope }: TokenOrder,
    token: { sessionId: string; issuedAt: Date; lifetime: number; audiences: readonly string[] },
  ): Promise<AccessToken> {
    const { sessionId: jti, issuedAt, lifetime, audiences } = token;
    const issuer = this.environment.baseUrl;
    const { kid, algorithm, privateKey } = await this.keys.signing();
    const claims = { client_id: client.id, iat: epochSeconds(issuedAt), scope };
    const accessToken = await this.jwt.signAsync(claims, {
      privateKey,
      algorithm,
      header: { alg: algorithm, kid, typ: 'at+jwt' },
      issuer,
      audience: audiences.length <= 1 ? (audiences[0] ?? issuer) : [...audiences],
      subject: user?.id ?? client.id,
      jwtid: jti,
      expiresIn: lifetime,
    });
    return { accessToken, jti, kid };
  }
}

/** Creates the first refresh token of a login, or the successor of a used refresh token. */
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
