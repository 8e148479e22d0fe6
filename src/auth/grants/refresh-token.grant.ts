import { Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type IssuedRefreshToken, SessionTokens } from '../../session/session-tokens.repository';
import { Sessions } from '../../session/sessions';
import { type Client, settingsOf } from '../client/client';
import { invalidGrant, OAuthError } from '../oauth/oauth-error';
import { TokenIssuer, type TokenResponse } from '../token/token-issuer';
import { TokenOwners } from '../token/token-owners';
import { grantedScope, type TokenRequest } from '../oauth/token-request';
import { type Grant, GrantOf } from './grant';
import { Grants } from './grant.registry';

/**
 * The refresh grant (RFC 6749, section 6) with rotation (RFC 9700, section 4.14.2). An exchange uses the refresh token
 * up, closes its Session, and opens a child Session. A refresh token and all its successors form a family. The lock of
 * the family makes concurrent exchanges run one after the other; only the exchange that closes the Session gets new
 * tokens.
 */
@Injectable()
@GrantOf('refresh_token')
export class RefreshTokenGrant implements Grant {
  private readonly logger = new Logger(RefreshTokenGrant.name);

  constructor(
    private readonly tokens: SessionTokens,
    private readonly sessions: Sessions,
    private readonly owners: TokenOwners,
    private readonly issuer: TokenIssuer,
    private readonly unitOfWork: UnitOfWork,
    private readonly grants: Grants,
  ) {}

  /**
   * True for a confidential Client, which is known before the refresh token is read. For any other Client, the grant by
   * which the login began decides later.
   */
  requiresSecret(client: Client): boolean {
    return this.grants.isConfidential(client);
  }

  async exchange(client: Client, request: TokenRequest): Promise<TokenResponse> {
    const text = request.parameter('refresh_token');
    if (text === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing');
    if (!Object.values(client.grants).some(({ issuesRefreshToken }) => issuesRefreshToken))
      throw new OAuthError('unauthorized_client', 'The client may not use refresh tokens');
    const token = await this.tokens.find(text);
    if (token?.kind !== 'refresh') throw notValid('unknown');
    if (token.clientId !== client.id) throw notValid(`issued to client ${token.clientId}`);
    this.assertStillGranted(client, token, request);
    if (token.userId !== null) await this.owners.prepare(token.userId);
    const scope = scopeOf(token, request.parameter('scope'));
    const outcome = await this.unitOfWork.run(() => this.use(client, text, { ...token, scope }));
    // The error is thrown only after the unit of work has committed: a rollback would reopen the Sessions that were
    // closed because the token was reused.
    if (outcome instanceof OAuthError) throw outcome;
    return outcome;
  }

  /**
   * Refuses a Client that may no longer use the grant by which the login began, or whose settings for that grant do not
   * allow refresh tokens. Also refuses a request without the secret if that grant requires one.
   */
  private assertStillGranted(
    client: Client,
    { grantType }: IssuedRefreshToken,
    { client: { secrets } }: TokenRequest,
  ): void {
    const isServed = client.grantTypes.includes(grantType) && this.grants.find(grantType) !== undefined;
    if (!isServed || !settingsOf(client, grantType).issuesRefreshToken)
      throw new OAuthError('unauthorized_client', 'The client may not use refresh tokens');
    if (secrets.length === 0 && this.grants.requiresSecret(client, grantType))
      throw new OAuthError('invalid_client', 'Client authentication failed', 'the secret is missing', client.id);
  }

  private async use(client: Client, text: string, token: IssuedRefreshToken): Promise<TokenResponse | OAuthError> {
    const { familyId, sessionId, userId } = token;
    const user = userId === null ? undefined : await this.owners.hold(client, userId);
    if (userId === null) await this.owners.holdClient(client);
    await this.sessions.lockFamily(familyId);
    const state = await this.tokens.refreshStateOf(text);
    if (state === 'repeated') return notValid('used moments ago; its successors are unused, so nothing was closed');
    if (state === 'reused') {
      await this.sessions.closeFamily(familyId);
      this.logger.warn({ event: 'refresh token used twice', clientId: client.id, sessionId, familyId });
      return notValid('used before: all Sessions of its family are closed');
    }
    if (state === 'expired') return notValid('expired');
    // Only one of several concurrent calls closes the Session.
    if ((await this.sessions.closeIfStored(sessionId))?.outcome !== 'updated')
      return notValid('its Session was closed meanwhile');
    return this.issuer.issue({
      client,
      grantType: token.grantType,
      successorOf: token,
      user,
      scope: token.scope ?? undefined,
      audience: token.audience ?? undefined,
    });
  }
}

/**
 * Returns the scope of the new token (RFC 6749, section 6): at most the scope granted originally, and that scope if
 * none was requested.
 */
function scopeOf({ scope: granted }: IssuedRefreshToken, requested: string | undefined): string | null {
  const scope = grantedScope(requested, granted?.split(' ') ?? []);
  if (scope === null) throw new OAuthError('invalid_scope', 'scope must hold no more than was granted at first');
  return scope ?? granted;
}

const notValid = (detail: string): OAuthError =>
  invalidGrant(
    'refresh-token-rejected',
    'The refresh token is not valid: unknown, expired, used, or its Session is closed. Log in again',
    `refresh token: ${detail}`,
  );
