import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import {
  FAMILY_OF_SESSION,
  HOLD_OWNER,
  LIVE_SESSIONS_OF_CLIENT,
  LIVE_SESSIONS_OF_FAMILY,
  LIVE_SESSIONS_OF_OTHER_KEYS,
  LIVE_SESSIONS_OF_USER,
  LOCK_FAMILY,
  LOCK_OWNER,
} from './session-statements';

export type SessionOwner = { readonly userId: string } | { readonly clientId: string };

interface SessionRow {
  readonly session_id: string;
}

/**
 * Sessions that end together: those of a User or Client, and those of a family of refresh tokens. Locks are taken in one
 * order: owner, family, Session; so that no two transactions of this server wait in a circle.
 */
@Injectable()
export class SessionGroups {
  constructor(private readonly statements: Statements) {}

  /** Whoever opens a Session of `owner` takes the lock shared; whoever ends them all takes it alone. */
  async lockOwner(owner: SessionOwner, mode: 'shared' | 'exclusive'): Promise<void> {
    const name = 'userId' in owner ? `User/${owner.userId}` : `Client/${owner.clientId}`;
    await this.statements.run(mode === 'shared' ? HOLD_OWNER : LOCK_OWNER, [name]);
  }

  async liveOfOwner(owner: SessionOwner): Promise<string[]> {
    return 'userId' in owner
      ? this.ids(LIVE_SESSIONS_OF_USER, owner.userId)
      : this.ids(LIVE_SESSIONS_OF_CLIENT, owner.clientId);
  }

  /** Of uses of a family, and of ends of its Sessions, one goes on at a time. */
  async lockFamily(familyId: string): Promise<void> {
    await this.statements.run(LOCK_FAMILY, [familyId]);
  }

  /** The family that a Session belongs to; undefined when it never had a refresh token. */
  async familyOf(sessionId: string): Promise<string | undefined> {
    return (await this.statements.runOne<{ family_id: string }>(FAMILY_OF_SESSION, [sessionId]))?.family_id;
  }

  liveOfFamily(familyId: string): Promise<string[]> {
    return this.ids(LIVE_SESSIONS_OF_FAMILY, familyId);
  }

  /** Sessions whose JWT was signed by another key than these. */
  liveOfOtherKeys(kids: readonly string[]): Promise<string[]> {
    return this.ids(LIVE_SESSIONS_OF_OTHER_KEYS, kids);
  }

  private async ids(statement: Parameters<Statements['run']>[0], value: unknown): Promise<string[]> {
    const rows = await this.statements.run<SessionRow>(statement, [value]);
    return rows.map(({ session_id: sessionId }) => sessionId);
  }
}
