import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../platform/database/registry-epoch';
import { type Epochs } from '../platform/request/epochs';
import { type StatementPart } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import {
  addRefreshTokenSql,
  addTokenSql,
  CLOSE_TOKENS,
  COUNT_LIVE_SESSIONS,
  FIND_LIVE_SESSION,
  FIND_TOKEN,
  IS_LIVE_SESSION,
  KIDS_OF_LIVE_TOKENS,
  MARK_USED,
} from './session-statements';
export { MOST_SESSIONS_COUNTED } from './session-statements';
import { type NewRefreshToken } from './refresh-tokens.repository';
import { tokenHashOf } from './token-hash';

/** A Session to be stored with its tokens. */
export interface NewSession {
  /** Chosen by the caller if the token must contain it (`jti`). */
  readonly id: string;
  readonly grantType: string;
  readonly userId: string | undefined;
  readonly clientId: string;
  readonly accessToken: string;
  /** Identifies the access token in logs: the `jti` of a JWT, else a UUID. */
  readonly jti: string;
  /** Base URL of the server that issued the token. */
  readonly issuer: string;
  /** The key that signed the token, if it is a JWT. */
  readonly kid: string | undefined;
  readonly expiresAt: Date;
  readonly refresh: NewRefreshToken | undefined;
  /** The Session whose refresh token opened this one. */
  readonly parentId: string | undefined;
  /** Scope tokens, separated by spaces. */
  readonly scope: string | undefined;
  readonly audience: string | undefined;
}

export interface LiveSession {
  readonly sessionId: string;
  readonly userId?: string;
  readonly clientId: string;
  /** Read in the same statement as the Session. */
  readonly epochs: Epochs;
}

/** A row of {@link FIND_LIVE_SESSION}. */
export interface LiveSessionRow extends Record<string, unknown>, Epochs {
  readonly sessionId: string;
  readonly userId: string | null;
  readonly clientId: string;
  readonly isUnused: boolean;
}

/** A row of {@link FIND_TOKEN}. */
export interface IssuedToken {
  readonly sessionId: string;
  readonly userId: string | null;
  readonly clientId: string;
  readonly expiresAt: Date | null;
  readonly isLive: boolean;
}

/** Access tokens by their hash. */
@Injectable()
export class SessionTokens {
  /** Sessions whose tokens are being stored by open units of work of this process. */
  private readonly adding = new Set<string>();

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly epoch: RegistryEpoch,
  ) {}

  /** CTEs that store the tokens, for the statement that stores the Session. */
  async partsOf(session: NewSession): Promise<readonly StatementPart[]> {
    const { id, userId, clientId, accessToken, expiresAt, kid, refresh, parentId } = session;
    this.adding.add(id);
    await this.unitOfWork.whenOver(() => this.adding.delete(id));
    const owners = [id, userId, clientId];
    const rights = await this.epoch.rightsToHold();
    // First use is recorded only for tokens that came from a refresh token.
    const notesFirstUse = parentId !== undefined;
    const values = [...owners, tokenHashOf(accessToken), expiresAt, endOf(session), notesFirstUse, kid, rights];
    const access = { name: 'access-token', values, sqlOf: addTokenSql };
    if (refresh === undefined) return [access];
    const { token, familyId, grantType, scope, audience } = refresh;
    const granted = [tokenHashOf(token), refresh.expiresAt, familyId, grantType, scope, audience];
    return [access, { name: 'refresh-token', values: [...owners, ...granted], sqlOf: addRefreshTokenSql }];
  }

  /** Finds the live Session of a token in use. */
  async use(accessToken: string): Promise<LiveSession | undefined> {
    const hash = tokenHashOf(accessToken);
    const row = await this.statements.runOne<LiveSessionRow>(FIND_LIVE_SESSION, [hash]);
    if (row === undefined) return undefined;
    if (row.isUnused) await this.statements.run(MARK_USED, [hash]);
    return liveSessionOf(row);
  }

  /** Finds an issued token, live or not; this does not count as a use. */
  find(accessToken: string): Promise<IssuedToken | undefined> {
    return this.statements.runOne<IssuedToken>(FIND_TOKEN, [tokenHashOf(accessToken)]);
  }

  /**
   * Returns whether a Session has a usable token. Before the commit, only the unit of work that opens it knows its id.
   */
  async isLive(sessionId: string): Promise<boolean> {
    return this.adding.has(sessionId) || (await this.statements.runOne(IS_LIVE_SESSION, [sessionId])) !== undefined;
  }

  /** Ends every token of a Session, in the transaction that closes it. */
  async close(sessionId: string): Promise<void> {
    await this.statements.run(CLOSE_TOKENS, [sessionId]);
  }

  /** How many Sessions are active; of more than are counted, one more. */
  async countLive(): Promise<number> {
    return (await this.statements.runOne<{ live: number }>(COUNT_LIVE_SESSIONS, []))?.live ?? 0;
  }

  /** Ids of the keys that signed tokens still alive. */
  async kidsOfLiveTokens(): Promise<ReadonlySet<string>> {
    const rows = await this.statements.run<{ kid: string }>(KIDS_OF_LIVE_TOKENS, []);
    return new Set(rows.map(({ kid }) => kid));
  }
}

export const liveSessionOf = ({ sessionId, userId, clientId, registries, rights }: LiveSessionRow): LiveSession => ({
  sessionId,
  clientId,
  epochs: { registries, rights },
  ...(userId === null ? {} : { userId }),
});

/** End of a Session: expiry of its access token, or of its later refresh token; undefined if that never expires. */
function endOf({ expiresAt, refresh }: NewSession): Date | undefined {
  if (refresh === undefined) return expiresAt;
  return refresh.expiresAt === undefined || refresh.expiresAt > expiresAt ? refresh.expiresAt : expiresAt;
}
