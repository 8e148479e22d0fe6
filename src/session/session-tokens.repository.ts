import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../platform/database/registry-epoch';
import { type Epochs } from '../platform/request/epochs';
import { type StatementPart } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import {
  addRefreshTokenSql,
  addTokenSql,
  CLOSE_TOKENS,
  COUNT_LIVE_SESSIONS,
  KIDS_OF_LIVE_TOKENS,
} from './session-statements';
export { MOST_SESSIONS_COUNTED } from './session-statements';
import { tokenHashOf } from './token-hash';

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

export interface LiveSession {
  readonly sessionId: string;
  readonly userId?: string;
  readonly clientId: string;
  /** The epochs of registries and rights, read in the same statement as the Session. */
  readonly epochs: Epochs;
}

/** A row of FIND_LIVE_SESSION. */
export interface LiveSessionRow extends Epochs {
  readonly sessionId: string;
  readonly userId: string | null;
  readonly clientId: string;
  readonly isUnused: boolean;
}

/** An access token or refresh token that was issued, live or not. */
export interface IssuedToken {
  readonly sessionId: string;
  readonly userId: string | null;
  readonly clientId: string;
  readonly expiresAt: Date | null;
  readonly isLive: boolean;
}

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
    const access = { name: 'access-token', values, sqlOf: addTokenSql };
    if (refresh === undefined) return [access];
    const { token, familyId, grantType, scope, audience } = refresh;
    const granted = [tokenHashOf(token), refresh.expiresAt, familyId, grantType, scope, audience];
    return [access, { name: 'refresh-token', values: [...owners, ...granted], sqlOf: addRefreshTokenSql }];
  }

  /** Ends every token of a Session, in the transaction that closes it. */
  async close(sessionId: string): Promise<void> {
    await this.statements.run(CLOSE_TOKENS, [sessionId]);
  }

  /**
   * Returns how many Sessions are active. If there are more than MOST_SESSIONS_COUNTED, it returns
   * MOST_SESSIONS_COUNTED + 1.
   */
  async countLive(): Promise<number> {
    return (await this.statements.runOne<{ live: number }>(COUNT_LIVE_SESSIONS, []))?.live ?? 0;
  }

  /** Ids of the keys that signed tokens which are still valid. */
  async kidsOfLiveTokens(): Promise<readonly string[]> {
    const rows = await this.statements.run<{ kid: string }>(KIDS_OF_LIVE_TOKENS, []);
    return rows.map(({ kid }) => kid);
  }
}

export const liveSessionOf = ({ sessionId, userId, clientId, registries, rights }: LiveSessionRow): LiveSession => ({
  sessionId,
  clientId,
  epochs: { registries, rights },
  ...(userId === null ? {} : { userId }),
});

/**
 * The end of a Session: the later expiry of its access token and its refresh token. Undefined if the refresh token
 * never expires.
 */
function endOf({ expiresAt, refresh }: NewSession): Date | undefined {
  if (refresh === undefined) return expiresAt;
  return refresh.expiresAt === undefined || refresh.expiresAt > expiresAt ? refresh.expiresAt : expiresAt;
}
