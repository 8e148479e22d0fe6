import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import {
  FAMILY_OF_SESSION,
  HOLD_OWNERS,
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

  /** For the Session that the open unit of work opens: until its end nobody ends all Sessions of its owners. */
  async holdOwners({ clientId, userId }: { readonly clientId: string; readonly userId?: string }): Promise<void> {
    const names = [{ clientId }, ...(userId === undefined ? [] : [{ userId }])].map(nameOf);
    await this.statements.run(HOLD_OWNERS, [names]);
  }

  /** Waits for all who hold the owner, and keeps others from it. */
  async lockOwner(owner: SessionOwner): Promise<void> {
    await this.statements.run(LOCK_OWNER, [nameOf(owner)]);
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

const nameOf = (owner: SessionOwner): string =>
  'userId' in owner ? `User/${owner.userId}` : `Client/${owner.clientId}`;
