import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { FIND_REFRESH_TOKEN, REFRESH_TOKEN_STATE, SET_SUCCESSOR } from './session-statements';
import { type IssuedToken } from './session-tokens.repository';
import { tokenHashOf } from './token-hash';

/** A row of {@link FIND_REFRESH_TOKEN}. */
export interface RefreshToken extends IssuedToken {
  readonly familyId: string;
  readonly grantType: string;
  readonly scope: string | null;
  readonly audience: string | null;
}

/**
 * `unused`: the token can be exchanged. `repeated`: it was exchanged moments ago and the new tokens are unused, so the
 * response with them may have been lost. `reused`: it was exchanged earlier or the new tokens are in use, so it was
 * probably stolen.
 */
export type RefreshTokenState = 'unused' | 'expired' | 'repeated' | 'reused';

/**
 * A second exchange of a refresh token within this time may be a repeated request: the client may have lost the
 * response.
 */
const REPEAT_SECONDS = 5;

interface StateRow {
  readonly is_unused: boolean;
  readonly is_expired: boolean;
  readonly has_unused_successors: boolean;
}

/** Stores refresh tokens by their hash. Each token can be exchanged once. */
@Injectable()
export class RefreshTokens {
  constructor(private readonly statements: Statements) {}

  /** Finds an issued refresh token, even if it can no longer be used. */
  find(refreshToken: string): Promise<RefreshToken | undefined> {
    return this.statements.runOne<RefreshToken>(FIND_REFRESH_TOKEN, [tokenHashOf(refreshToken)]);
  }

  /** Returns whether the token can be exchanged. The result is valid only while the family of the token is locked. */
  async stateOf(refreshToken: string): Promise<RefreshTokenState> {
    const values = [tokenHashOf(refreshToken), REPEAT_SECONDS];
    const row = await this.statements.runOne<StateRow>(REFRESH_TOKEN_STATE, values);
    if (row === undefined || row.is_expired) return 'expired';
    if (row.is_unused) return 'unused';
    return row.has_unused_successors ? 'repeated' : 'reused';
  }

  /** Records the Session of the new tokens that a used refresh token was exchanged for. */
  async setSuccessor(refreshToken: string, sessionId: string): Promise<void> {
    await this.statements.run(SET_SUCCESSOR, [tokenHashOf(refreshToken), sessionId]);
  }
}
