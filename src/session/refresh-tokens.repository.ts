import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { FIND_REFRESH_TOKEN, REFRESH_TOKEN_STATE, SET_SUCCESSOR } from './session-statements';
import { tokenHashOf } from './token-hash';

/** A refresh token that is about to be stored with its Session. */
export interface NewRefreshToken {
  readonly token: string;
  /** All refresh tokens that descend from one exchange. */
  readonly familyId: string;
  /** The grant that the family began with: its settings hold. */
  readonly grantType: string;
  readonly scope: string | undefined;
  readonly audience: string | undefined;
  readonly expiresAt: Date | undefined;
}

/** A row of {@link FIND_REFRESH_TOKEN}. */
export interface RefreshToken {
  readonly familyId: string;
  readonly sessionId: string;
  readonly userId: string | null;
  readonly clientId: string;
  readonly grantType: string;
  readonly scope: string | null;
  readonly audience: string | null;
  readonly expiresAt: Date | null;
  readonly isLive: boolean;
}

/**
 * `unused`: it can be exchanged. `repeated`: it was exchanged moments ago, and its successors were not used yet; the
 * answer may have been lost. `reused`: it was probably stolen.
 */
export type RefreshTokenState = 'unused' | 'expired' | 'repeated' | 'reused';

/** Clients that send a request twice do so within seconds (decisions: "Refresh token"). */
const REPEAT_SECONDS = 5;

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
  find(refreshToken: string): Promise<RefreshToken | undefined> {
    return this.statements.runOne<RefreshToken>(FIND_REFRESH_TOKEN, [tokenHashOf(refreshToken)]);
  }

  /** Whether the token can be exchanged. The result holds as long as its family is locked. */
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
