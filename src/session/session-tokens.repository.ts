import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import {
  CLOSE_TOKENS,
  CONSUME_REFRESH_TOKENS,
  FIND_LIVE_SESSION,
  HOLD_OWNER,
  IS_LIVE_SESSION,
  LIVE_SESSIONS_OF_CLIENT,
  LIVE_SESSIONS_OF_USER,
  LOCK_OWNER,
} from './session-statements';
import { SessionTokenEntity } from './session-token.entity';
import { tokenHashOf } from './token-hash';

export interface LiveSession {
  readonly sessionId: string;
  readonly userId?: string;
  readonly clientId: string;
  /** The registry epoch at the same moment. */
  readonly epoch: number;
}

export type SessionOwner = { readonly userId: string } | { readonly clientId: string };

interface LiveSessionRow {
  readonly session_id: string;
  readonly user_id: string | null;
  readonly client_id: string;
  readonly epoch: number;
}

/** Access tokens by their hash. */
@Injectable()
export class SessionTokens {
  constructor(
    @InjectRepository(SessionTokenEntity) private readonly rows: Repository<SessionTokenEntity>,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async add(token: {
    accessToken: string;
    expiresAt: Date;
    sessionId: string;
    userId: string | undefined;
    clientId: string;
  }): Promise<void> {
    await this.unitOfWork.bind(this.rows).insert({
      tokenHash: tokenHashOf(token.accessToken),
      expiresAt: token.expiresAt,
      sessionId: token.sessionId,
      userId: token.userId ?? null,
      clientId: token.clientId,
    });
  }

  async findLive(accessToken: string): Promise<LiveSession | undefined> {
    const row = await this.statements.runOne<LiveSessionRow>(FIND_LIVE_SESSION, [tokenHashOf(accessToken)]);
    if (row === undefined) return undefined;
    const { session_id: sessionId, user_id: userId, client_id: clientId, epoch } = row;
    return { sessionId, clientId, epoch, ...(userId === null ? {} : { userId }) };
  }

  async isLive(sessionId: string): Promise<boolean> {
    return (await this.statements.runOne(IS_LIVE_SESSION, [sessionId])) !== undefined;
  }

  /** Whoever opens a Session of `owner` takes the lock shared; whoever ends them all takes it alone. */
  async lockOwner(owner: SessionOwner, mode: 'shared' | 'exclusive'): Promise<void> {
    const name = 'userId' in owner ? `User/${owner.userId}` : `Client/${owner.clientId}`;
    await this.statements.run(mode === 'shared' ? HOLD_OWNER : LOCK_OWNER, [name]);
  }

  async liveSessionIds(owner: SessionOwner): Promise<string[]> {
    const rows =
      'userId' in owner
        ? await this.statements.run<{ session_id: string }>(LIVE_SESSIONS_OF_USER, [owner.userId])
        : await this.statements.run<{ session_id: string }>(LIVE_SESSIONS_OF_CLIENT, [owner.clientId]);
    return rows.map(({ session_id: sessionId }) => sessionId);
  }

  /** Ends every token of a Session, in the transaction that closes it. */
  async close(sessionId: string): Promise<void> {
    await this.statements.run(CLOSE_TOKENS, [sessionId]);
    await this.statements.run(CONSUME_REFRESH_TOKENS, [sessionId]);
  }
}
