import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../platform/database/registry-epoch';
import { type Epochs } from '../platform/request/epochs';
import { type StatementPart } from '../platform/database/statement-part';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import {
  addRefreshTokenSql,
  addTokenSql,
  CLOSE_TOKENS,
  CONSUME_REFRESH_TOKENS,
  FIND_LIVE_SESSION,
  FIND_TOKEN,
  IS_LIVE_SESSION,
  KIDS_OF_LIVE_TOKENS,
  MARK_USED,
} from './session-statements';
import { type NewRefreshToken } from './refresh-tokens.repository';
import { tokenHashOf } from './token-hash';

export interface LiveSession {
  readonly sessionId: string;
  readonly userId?: string;
  readonly clientId: string;
  /** At the same moment. */
  readonly epochs: Epochs;
}

export interface NewSessionToken {
  readonly accessToken: string;
  readonly expiresAt: Date;
  /** When the Session is over; absent for one whose refresh token has no end. */
  readonly endsAt: Date | undefined;
  /** Whether its first use is noted: of a token that a refresh token was exchanged for. */
  readonly notesFirstUse: boolean;
  readonly sessionId: string;
  readonly userId: string | undefined;
  readonly clientId: string;
  /** The key that signed a JWT. */
  readonly kid: string | undefined;
  /** The refresh token that comes with it. */
  readonly refresh: NewRefreshToken | undefined;
}

/** What is known of an access token. */
export interface IssuedToken {
  readonly sessionId: string;
  readonly userId?: string;
  readonly clientId: string;
  readonly expiresAt?: Date;
  readonly isLive: boolean;
}

interface IssuedTokenRow {
  readonly session_id: string;
  readonly user_id: string | null;
  readonly client_id: string;
  readonly expires_at: Date | null;
  readonly is_live: boolean;
}

interface LiveSessionRow {
  readonly session_id: string;
  readonly user_id: string | null;
  readonly client_id: string;
  readonly epoch: number;
  readonly rights_epoch: number;
  readonly is_unused: boolean;
}

/** Access tokens by their hash. */
@Injectable()
export class SessionTokens {
  /** Sessions whose token the open units of work of this process add. */
  private readonly adding = new Set<string>();

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly epoch: RegistryEpoch,
  ) {}

  /** CTEs for the statement that stores the Session: they store the tokens. */
  async partsOf(token: NewSessionToken): Promise<readonly StatementPart[]> {
    const { accessToken, expiresAt, endsAt, notesFirstUse, sessionId, userId, clientId, kid, refresh } = token;
    this.adding.add(sessionId);
    await this.unitOfWork.whenOver(() => this.adding.delete(sessionId));
    const owners = [sessionId, userId, clientId];
    const rights = await this.epoch.rightsToHold();
    const values = [...owners, tokenHashOf(accessToken), expiresAt, endsAt, notesFirstUse, kid, rights];
    const access = { name: 'access-token', values, sqlOf: addTokenSql };
    if (refresh === undefined) return [access];
    const { token: text, familyId, grantType, scope, audience } = refresh;
    const granted = [tokenHashOf(text), refresh.expiresAt, familyId, grantType, scope, audience];
    return [access, { name: 'refresh-token', values: [...owners, ...granted], sqlOf: addRefreshTokenSql }];
  }

  /** The live Session of a token that somebody uses. */
  async use(accessToken: string): Promise<LiveSession | undefined> {
    const hash = tokenHashOf(accessToken);
    const row = await this.statements.runOne<LiveSessionRow>(FIND_LIVE_SESSION, [hash]);
    if (row === undefined) return undefined;
    if (row.is_unused) await this.statements.run(MARK_USED, [hash]);
    const {
      session_id: sessionId,
      user_id: userId,
      client_id: clientId,
      epoch: registries,
      rights_epoch: rights,
    } = row;
    return { sessionId, clientId, epochs: { registries, rights }, ...(userId === null ? {} : { userId }) };
  }

  /** A token that was issued once, live or not; looking is no use of it. */
  async find(accessToken: string): Promise<IssuedToken | undefined> {
    const row = await this.statements.runOne<IssuedTokenRow>(FIND_TOKEN, [tokenHashOf(accessToken)]);
    if (row === undefined) return undefined;
    return {
      sessionId: row.session_id,
      clientId: row.client_id,
      isLive: row.is_live,
      ...(row.user_id === null ? {} : { userId: row.user_id }),
      ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    };
  }

  /** Whether a Session has a token that may be used. Nobody but who opens it can name it before that is committed. */
  async isLive(sessionId: string): Promise<boolean> {
    return this.adding.has(sessionId) || (await this.statements.runOne(IS_LIVE_SESSION, [sessionId])) !== undefined;
  }

  /** Ends every token of a Session, in the transaction that closes it. */
  async close(sessionId: string): Promise<void> {
    await this.statements.run(CLOSE_TOKENS, [sessionId]);
    await this.statements.run(CONSUME_REFRESH_TOKENS, [sessionId]);
  }

  /** The keys that signed tokens which still live. */
  async kidsOfLiveTokens(): Promise<ReadonlySet<string>> {
    const rows = await this.statements.run<{ kid: string }>(KIDS_OF_LIVE_TOKENS, []);
    return new Set(rows.map(({ kid }) => kid));
  }
}
