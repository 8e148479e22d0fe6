import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { RefreshTokenEntity } from './refresh-token.entity';
import { CONSUME_REFRESH_TOKEN, FIND_REFRESH_TOKEN_USER } from './session-statements';
import { newOpaqueToken, tokenHashOf } from './token-hash';

export interface ConsumedRefreshToken {
  readonly familyId: string;
  readonly sessionId: string;
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
  async issue(token: {
    sessionId: string;
    userId: string;
    clientId: string;
    expiresAt?: Date;
    familyId?: string;
  }): Promise<string> {
    const refreshToken = newOpaqueToken();
    await this.unitOfWork.bind(this.rows).insert({
      tokenHash: tokenHashOf(refreshToken),
      expiresAt: token.expiresAt ?? null,
      familyId: token.familyId ?? randomUUID(),
      sessionId: token.sessionId,
      userId: token.userId,
      clientId: token.clientId,
    });
    return refreshToken;
  }

  /** The User of a token that was issued to the Client, whether it can still be used or not. */
  async findUserId(refreshToken: string, clientId: string): Promise<string | undefined> {
    const values = [tokenHashOf(refreshToken), clientId];
    return (await this.statements.runOne<{ user_id: string }>(FIND_REFRESH_TOKEN_USER, values))?.user_id;
  }

  /** Uses a token up; undefined when it is unknown, used, expired, or of another client. Of concurrent uses one wins. */
  async consume(refreshToken: string, clientId: string): Promise<ConsumedRefreshToken | undefined> {
    const row = await this.statements.runOne<{ family_id: string; session_id: string }>(CONSUME_REFRESH_TOKEN, [
      tokenHashOf(refreshToken),
      clientId,
    ]);
    return row === undefined ? undefined : { familyId: row.family_id, sessionId: row.session_id };
  }
}
