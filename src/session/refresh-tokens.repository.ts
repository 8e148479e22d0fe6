import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { FIND_REFRESH_TOKEN, REFRESH_TOKEN_STATE, SET_SUCCESSOR } from './session-statements';
import { tokenHashOf } from './token-hash';

/** A family of refresh tokens: all that descend from one exchange, and what was granted with the first of them. */
interface Family {
  readonly familyId: string;
  /** The grant that the family began with: its settings hold. */
  readonly grantType: string;
  readonly scope: string | undefined;
  readonly audience: string | undefined;
  /** Of this token; undefined when it has no end. */
  readonly expiresAt: Date | undefined;
}

/** A refresh token that is about to be stored with its Session. */
export interface NewRefreshToken extends Family {
  readonly token: string;
}

export interface RefreshToken extends Family {
  readonly userId?: string | undefined;
  readonly clientId: string;
  readonly sessionId: string;
  readonly isLive: boolean;
}

/**
 * `unused`: it can be exchanged. `repeated`: it was exchanged moments ago, and its successors were not used yet; the
 * answer may have been lost. `reused`: somebody else has it too.
 */
export type RefreshTokenState = 'unused' | 'expired' | 'repeated' | 'reused';

/** Clients that send a request twice do so within seconds (decisions: "Refresh token"). */
export const REPEAT_SECONDS = 5;

interface RefreshTokenRow {
  readonly family_id: string;
  readonly session_id: string;
  readonly user_id: string | null;
  readonly client_id: string;
  readonly grant_type: string;
  readonly scope: string | null;
  readonly audience: string | null;
  readonly expires_at: Date | null;
  readonly is_live: boolean;
}

interface StateRow {
  readonly is_unused: boolean;
  readonly is_expired: boolean;
  readonly has_unused_successors: boolean;
}

/** Refresh tokens by their hash; each can be used once. */
@Injectable()
export class RefreshTokens {
  constructor(private readonly statements: Statements) {}

  /** A token that was issued once, whether it can still be used or not. */
  async find(refreshToken: string): Promise<RefreshToken | undefined> {
    const row = await this.statements.runOne<RefreshTokenRow>(FIND_REFRESH_TOKEN, [tokenHashOf(refreshToken)]);
    if (row === undefined) return undefined;
    return {
      familyId: row.family_id,
      sessionId: row.session_id,
      clientId: row.client_id,
      grantType: row.grant_type,
      isLive: row.is_live,
      userId: row.user_id ?? undefined,
      scope: row.scope ?? undefined,
      audience: row.audience ?? undefined,
      expiresAt: row.expires_at ?? undefined,
    };
  }

  /** What the token is good for; true as long as its family is locked. */
  async stateOf(refreshToken: string): Promise<RefreshTokenState> {
    const values = [tokenHashOf(refreshToken), REPEAT_SECONDS];
    const row = await this.statements.runOne<StateRow>(REFRESH_TOKEN_STATE, values);
    if (row === undefined || row.is_expired) return 'expired';
    if (row.is_unused) return 'unused';
    return row.has_unused_successors ? 'repeated' : 'reused';
  }

  /** Notes the Session of the tokens that a used token was exchanged for. */
  async setSuccessor(refreshToken: string, sessionId: string): Promise<void> {
    await this.statements.run(SET_SUCCESSOR, [tokenHashOf(refreshToken), sessionId]);
  }
}
