import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { type Caller } from '../../platform/request/caller';
import { ResourceReader } from '../../store/resource-reader';
import { RefreshTokens } from '../../session/refresh-tokens.repository';
import { type IssuedToken } from '../../session/session-tokens.repository';
import { Sessions } from '../../session/sessions';

/** RFC 7662, section 2.2. Members that are undefined are not printed. */
export type TokenDescription = { readonly active: false } | LiveTokenDescription;

interface LiveTokenDescription {
  readonly active: true;
  readonly iss: string;
  readonly client_id: string;
  readonly sub: string;
  readonly token_type?: 'Bearer';
  readonly username?: string | undefined;
  readonly scope?: string | undefined;
  readonly aud?: string | readonly string[];
  readonly exp?: number | undefined;
  readonly iat?: number | undefined;
  readonly jti?: string;
}

const INACTIVE: TokenDescription = { active: false };

/**
 * Describes a token. To a caller without the right to it every token is inactive, as any other text is. A client may see the
 * tokens that were issued to it; the bearer of a User's token those of that User with the same client.
 */
@Injectable()
export class Introspection {
  constructor(
    private readonly sessions: Sessions,
    private readonly refreshTokens: RefreshTokens,
    private readonly reader: ResourceReader,
    private readonly environment: Environment,
  ) {}

  /** @param mayKnowOthers whether a policy lets the caller describe tokens of others, as a resource server has to */
  async describe(token: string, caller: Caller, mayKnowOthers: () => Promise<boolean>): Promise<TokenDescription> {
    const issued = await this.sessions.describe(token);
    if (issued !== undefined) {
      return issued.isLive && (isOwn(caller, issued) || (await mayKnowOthers())) ? this.accessToken(issued) : INACTIVE;
    }
    const refreshToken = await this.refreshTokens.find(token);
    if (refreshToken?.isLive !== true || !(isOwn(caller, refreshToken) || (await mayKnowOthers()))) return INACTIVE;
    const { clientId, userId, scope, expiresAt } = refreshToken;
    return {
      active: true,
      iss: this.environment.baseUrl,
      client_id: clientId,
      sub: userId ?? clientId,
      scope,
      exp: epochSeconds(expiresAt),
    };
  }

  private async accessToken({ sessionId, clientId, userId, expiresAt }: IssuedToken): Promise<TokenDescription> {
    const { baseUrl } = this.environment;
    const session = await this.read<SessionBody>('Session', sessionId);
    const user = userId === undefined ? undefined : await this.read<{ userName?: string }>('User', userId);
    const issuer = session?.iss ?? baseUrl;
    const audience = session?.audience?.split(' ') ?? [issuer];
    return {
      active: true,
      iss: issuer,
      token_type: 'Bearer',
      client_id: clientId,
      sub: userId ?? clientId,
      aud: audience.length === 1 ? (audience[0] ?? issuer) : audience,
      // Sessions of releases before 0.2.0 have no jti: their JWTs carry the id of the Session.
      jti: session?.jti ?? sessionId,
      username: user?.userName,
      scope: session?.scope?.join(' '),
      iat: epochSeconds(session?.start === undefined ? undefined : new Date(session.start)),
      exp: epochSeconds(expiresAt),
    };
  }

  private async read<T>(type: string, id: string): Promise<T | undefined> {
    const stored = await this.reader.find(type, id);
    return stored === undefined ? undefined : (JSON.parse(stored.text) as T);
  }
}

interface SessionBody {
  readonly jti?: string;
  readonly iss?: string;
  readonly start?: string;
  readonly scope?: readonly string[];
  readonly audience?: string;
}

const epochSeconds = (time: Date | undefined): number | undefined =>
  time === undefined ? undefined : Math.floor(time.getTime() / 1000);

/** A client's own tokens; of those that came to it with a User, that User's. */
const isOwn = (caller: Caller, owner: { readonly clientId: string; readonly userId?: string | undefined }): boolean =>
  caller.clientId === owner.clientId && (caller.userId ?? owner.userId) === owner.userId;
