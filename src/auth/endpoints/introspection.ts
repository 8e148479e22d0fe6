import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { type Caller } from '../../platform/request/caller';
import { ResourceReader } from '../../store/resource-reader';
import { type IssuedToken, SessionTokens } from '../../session/session-tokens.repository';
import { epochSeconds } from '../../platform/time/clock';

const INACTIVE = { active: false };

/**
 * Describes a token (RFC 7662, section 2.2). A caller without the right to see a token gets "inactive", as for any
 * unknown text. A client may see the tokens issued to that client. A caller with a User's bearer token may see only the
 * tokens of that User and the same client.
 */
@Injectable()
export class Introspection {
  constructor(
    private readonly tokens: SessionTokens,
    private readonly reader: ResourceReader,
    private readonly environment: Environment,
  ) {}

  /**
   * @param mayKnowOthers whether a policy lets the caller see other callers' tokens; a resource server needs this
   * @returns the members of the response; JSON omits those that are undefined
   */
  async describe(token: string, caller: Caller, mayKnowOthers: () => Promise<boolean>): Promise<object> {
    const issued = await this.tokens.find(token);
    if (issued?.isLive !== true || !(isOwn(caller, issued) || (await mayKnowOthers()))) return INACTIVE;
    const { clientId, userId, expiresAt } = issued;
    return {
      active: true,
      iss: this.environment.baseUrl,
      client_id: clientId,
      sub: userId ?? clientId,
      exp: expiresAt === null ? undefined : epochSeconds(expiresAt),
      ...(issued.kind === 'refresh' ? { scope: issued.scope ?? undefined } : await this.ofAccessToken(issued)),
    };
  }

  private async ofAccessToken({ sessionId, userId }: IssuedToken): Promise<object> {
    const session = await this.read<SessionBody>('Session', sessionId);
    const user = userId === null ? undefined : await this.read<{ userName?: string }>('User', userId);
    const issuer = session?.iss ?? this.environment.baseUrl;
    const audience = session?.audience?.split(' ') ?? [issuer];
    return {
      iss: issuer,
      token_type: 'Bearer',
      aud: audience.length === 1 ? audience[0] : audience,
      // Sessions written before 0.2.0 have no `jti`. The `jti` of their JWTs is the id of the Session.
      jti: session?.jti ?? sessionId,
      username: user?.userName,
      scope: session?.scope?.join(' '),
      iat: session?.start === undefined ? undefined : epochSeconds(new Date(session.start)),
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

/** Whether the token belongs to the caller's client and, if the caller acts for a User, to that User. */
const isOwn = (caller: Caller, owner: Pick<IssuedToken, 'clientId' | 'userId'>): boolean =>
  caller.clientId === owner.clientId && (caller.userId ?? owner.userId) === owner.userId;
