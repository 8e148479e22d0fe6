import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { assertRightsSql, RegistryEpoch } from '../platform/database/registry-epoch';
import { type Statement, type StatementPart } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';

/**
 * SQL that stores an access token; it is a part of the statement that stores its Session. `rights` is the rights epoch
 * (a counter of changes of rights) at which the User and the Client were read. If the epoch has risen since, the
 * statement fails with a conflict.
 */
const addTokenSql = ([
  session,
  user,
  client,
  hash,
  expires,
  ends,
  unused,
  kid,
  rights = '',
]: readonly string[]): string =>
  `insert into session_token (session_id, user_id, client_id, token_hash, expires_at, ends_at, is_unused, kid)
    select ${session}::text, ${user}::text, ${client}::text, ${hash}::bytea, ${expires}::timestamptz, ${ends}::timestamptz, ${unused}::boolean, ${kid}::text
    where ${assertRightsSql(`${rights}::bigint`)} = 0`;

/** SQL that stores the refresh token of the same response. */
const addRefreshTokenSql = (places: readonly string[]): string =>
  `insert into refresh_token (session_id, user_id, client_id, token_hash, expires_at, family_id, grant_type, scope, audience)
    values (${places.join(', ')})`;

/** SQL that notes on the used refresh token which Session its successors belong to. */
const noteSuccessorSql = ([session = '', parent = '']: readonly string[]): string =>
  `update refresh_token set successor_session_id = ${session}::text where session_id = ${parent}::text`;

const CLOSE_TOKENS: Statement = {
  name: 'session-close-tokens',
  text: `with closed as (
      update session_token set closed_at = clock_timestamp() where session_id = $1 and closed_at is null
    ) update refresh_token set consumed_at = clock_timestamp() where session_id = $1 and consumed_at is null`,
};

/** Finds an issued token of either kind by its hash ($1), live or not. */
const FIND_TOKEN: Statement = {
  name: 'session-find-token',
  text: `select 'access' as kind, session_id as "sessionId", user_id as "userId", client_id as "clientId",
      expires_at as "expiresAt", closed_at is null and (expires_at is null or expires_at > clock_timestamp()) as "isLive",
      null as "familyId", null as "grantType", null as scope, null as audience
    from session_token where token_hash = $1
    union all select 'refresh', session_id, user_id, client_id,
      expires_at, consumed_at is null and (expires_at is null or expires_at > clock_timestamp()),
      family_id, grant_type, scope, audience
    from refresh_token where token_hash = $1`,
};

/**
 * Reads the state of a refresh token ($1) whose family is locked. Its successors, the new access and refresh token,
 * count as unused if neither was sent to the server yet: the response that contained them may have been lost. $2:
 * within how many seconds a second exchange may be a repeated request.
 */
const REFRESH_TOKEN_STATE: Statement = {
  name: 'session-refresh-token-state',
  text: `select r.consumed_at is null as is_unused,
      coalesce(r.expires_at <= clock_timestamp(), false) as is_expired,
      coalesce(r.consumed_at > clock_timestamp() - make_interval(secs => $2::float8), false)
        and exists (select from session_token t
          where t.session_id = r.successor_session_id and t.closed_at is null and t.is_unused)
        and exists (select from refresh_token s
          where s.session_id = r.successor_session_id and s.consumed_at is null) as has_unused_successors
    from refresh_token r where r.token_hash = $1`,
};

/** The count of active Sessions stops above this number. */
export const MOST_SESSIONS_COUNTED = 10_000;

const COUNT_LIVE_SESSIONS: Statement = {
  name: 'session-count-live',
  text: `select count(*) as live from (select from session_token
    where closed_at is null and (ends_at is null or ends_at > clock_timestamp()) limit ${MOST_SESSIONS_COUNTED + 1}) counted`,
};

/** Ids of the signing keys whose tokens are still valid, so that a resource server may need to verify them. */
const KIDS_OF_LIVE_TOKENS: Statement = {
  name: 'session-kids-of-live-tokens',
  text: `select distinct kid from session_token
    where kid is not null and closed_at is null and (expires_at is null or expires_at > clock_timestamp())`,
};

/**
 * Ends the tokens of each Session whose JWT was signed by any key except $1, as if their time were over. So the sweep
 * closes these Sessions.
 */
const EXPIRE_OTHER_KEYS: Statement = {
  name: 'session-expire-other-keys',
  text: `with expired as (
      update session_token set expires_at = clock_timestamp(), ends_at = clock_timestamp()
        where kid <> $1 and closed_at is null returning session_id
    ) update refresh_token r set expires_at = clock_timestamp() from expired e
      where r.session_id = e.session_id and r.consumed_at is null`,
};

/**
 * A second exchange of a refresh token within this time may be a repeated request: the client may have lost the
 * response.
 */
const REPEAT_SECONDS = 5;

/** A new refresh token, which is stored together with its Session. */
export interface NewRefreshToken {
  readonly token: string;
  /** Id of the family: the refresh token of one login, and all its successors. */
  readonly familyId: string;
  /** The grant that issued the first token of the family. The Client's settings for this grant apply. */
  readonly grantType: string;
  readonly scope: string | undefined;
  readonly audience: string | undefined;
  readonly expiresAt: Date | undefined;
}

/** A new Session, which is stored together with its tokens. */
export interface NewSession {
  /** Id of the Session, chosen before the token is made: in a JWT it is also the `jti`. */
  readonly id: string;
  readonly grantType: string;
  readonly userId: string | undefined;
  readonly clientId: string;
  readonly accessToken: string;
  /** The id of the access token in logs: the `jti` of a JWT, else a UUID. */
  readonly jti: string;
  /** Base URL of the server that issued the token. */
  readonly issuer: string;
  /** The id of the key that signed the access token, if the token is a JWT. */
  readonly kid: string | undefined;
  readonly expiresAt: Date;
  readonly refresh: NewRefreshToken | undefined;
  /** Id of the Session whose refresh token opened this Session. */
  readonly parentId: string | undefined;
  /** Scope tokens, separated by spaces. */
  readonly scope: string | undefined;
  readonly audience: string | undefined;
}

interface IssuedTokenOf<Kind> {
  readonly kind: Kind;
  readonly sessionId: string;
  readonly userId: string | null;
  readonly clientId: string;
  readonly expiresAt: Date | null;
  readonly isLive: boolean;
}

export interface IssuedRefreshToken extends IssuedTokenOf<'refresh'> {
  readonly familyId: string;
  readonly grantType: string;
  readonly scope: string | null;
  readonly audience: string | null;
}

/** An access token or refresh token that was issued, live or not. */
export type IssuedToken = IssuedTokenOf<'access'> | IssuedRefreshToken;

/**
 * `unused`: the token can be exchanged. `repeated`: it was exchanged moments ago and the new tokens are unused, so the
 * response with them may have been lost. `reused`: it was exchanged earlier or the new tokens are in use, so it was
 * probably stolen.
 */
type RefreshTokenState = 'unused' | 'expired' | 'repeated' | 'reused';

interface StateRow {
  readonly is_unused: boolean;
  readonly is_expired: boolean;
  readonly has_unused_successors: boolean;
}

/** Stores access tokens and refresh tokens by their hash. */
@Injectable()
export class SessionTokens {
  constructor(
    private readonly statements: Statements,
    private readonly epoch: RegistryEpoch,
  ) {}

  /** Returns the CTEs that store the tokens of a Session, for the statement that stores the Session. */
  async partsOf(session: NewSession): Promise<readonly StatementPart[]> {
    const { id, userId, clientId, accessToken, expiresAt, kid, refresh, parentId } = session;
    const owners = [id, userId, clientId];
    const rights = await this.epoch.rightsToHold();
    // The first use is recorded only for access tokens that came from a refresh token.
    const notesFirstUse = parentId !== undefined;
    const values = [...owners, tokenHashOf(accessToken), expiresAt, endOf(session), notesFirstUse, kid, rights];
    const parts: StatementPart[] = [{ name: 'access-token', values, sqlOf: addTokenSql }];
    if (refresh !== undefined) {
      const { token, familyId, grantType, scope, audience } = refresh;
      const granted = [tokenHashOf(token), refresh.expiresAt, familyId, grantType, scope, audience];
      parts.push({ name: 'refresh-token', values: [...owners, ...granted], sqlOf: addRefreshTokenSql });
    }
    if (parentId !== undefined) parts.push({ name: 'successor', values: [id, parentId], sqlOf: noteSuccessorSql });
    return parts;
  }

  /** Finds an issued token of either kind, live or not. This does not count as a use of the token. */
  find(token: string): Promise<IssuedToken | undefined> {
    return this.statements.runOne<IssuedToken>(FIND_TOKEN, [tokenHashOf(token)]);
  }

  /** Returns whether the token can be exchanged. The result is valid only while the family of the token is locked. */
  async refreshStateOf(refreshToken: string): Promise<RefreshTokenState> {
    const values = [tokenHashOf(refreshToken), REPEAT_SECONDS];
    const row = await this.statements.runOne<StateRow>(REFRESH_TOKEN_STATE, values);
    if (row === undefined || row.is_expired) return 'expired';
    if (row.is_unused) return 'unused';
    return row.has_unused_successors ? 'repeated' : 'reused';
  }

  /** Ends every token of a Session, in the transaction that closes it. */
  async close(sessionId: string): Promise<void> {
    await this.statements.run(CLOSE_TOKENS, [sessionId]);
  }

  /** Returns how many Sessions are active, at most MOST_SESSIONS_COUNTED + 1. */
  async countLive(): Promise<number> {
    return (await this.statements.runOne<{ live: number }>(COUNT_LIVE_SESSIONS, []))?.live ?? 0;
  }

  /** Ids of the keys that signed tokens which are still valid. */
  async kidsOfLiveTokens(): Promise<readonly string[]> {
    const rows = await this.statements.run<{ kid: string }>(KIDS_OF_LIVE_TOKENS, []);
    return rows.map(({ kid }) => kid);
  }

  /** Ends both tokens of each Session whose JWT was signed by another key than `kid`. */
  async expireOthersThan(kid: string): Promise<void> {
    await this.statements.run(EXPIRE_OTHER_KEYS, [kid]);
  }
}

/** Makes an opaque token of 256 random bits. It cannot be guessed, so a fast hash protects it in storage. */
export const newOpaqueToken = (): string => randomBytes(32).toString('base64url');

/** The hash of a token. It is stored instead of the token, so that a leaked database grants no access. */
export const tokenHashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The later expiry of the access token and the refresh token; undefined if the refresh token never expires. */
function endOf({ expiresAt, refresh }: NewSession): Date | undefined {
  if (refresh === undefined) return expiresAt;
  return refresh.expiresAt === undefined || refresh.expiresAt > expiresAt ? refresh.expiresAt : expiresAt;
}
