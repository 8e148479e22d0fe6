import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { RefreshTokenEntity } from './refresh-token.entity';
import { FIND_REFRESH_TOKEN, REFRESH_TOKEN_STATE, SET_SUCCESSOR } from './session-statements';
import { newOpaqueToken, tokenHashOf } from './token-hash';

/** What was granted with the first token of a family, and holds for all that descend from it. */
export interface GrantedFamily {
  readonly userId?: string;
  readonly clientId: string;
  /** The grant that the family began with: its settings hold. */
  readonly grantType: string;
  readonly scope?: string;
  readonly audience?: string;
}

export interface RefreshToken extends GrantedFamily {
  readonly familyId: string;
  readonly sessionId: string;
  readonly expiresAt?: Date;
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
  constructor(
    @InjectRepository(RefreshTokenEntity) private readonly rows: Repository<RefreshTokenEntity>,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Makes a token for a Session: the first of a family, or the successor of one that was used. */
  async issue(token: GrantedFamily & { sessionId: string; expiresAt?: Date; familyId?: string }): Promise<string> {
    const refreshToken = newOpaqueToken();
    await this.unitOfWork.bind(this.rows).insert({
      tokenHash: tokenHashOf(refreshToken),
      expiresAt: token.expiresAt ?? null,
      familyId: token.familyId ?? randomUUID(),
      sessionId: token.sessionId,
      userId: token.userId ?? null,
      clientId: token.clientId,
      grantType: token.grantType,
      scope: token.scope ?? null,
      audience: token.audience ?? null,
    });
    return refreshToken;
  }

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
      ...(row.user_id === null ? {} : { userId: row.user_id }),
      ...(row.scope === null ? {} : { scope: row.scope }),
      ...(row.audience === null ? {} : { audience: row.audience }),
      ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
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
