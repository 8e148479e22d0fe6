import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { readJson } from '../platform/json/read-json';
import { Clock } from '../platform/time/clock';
import { ResourceDraft } from '../resource/resource-draft';
import { ResourceReader } from '../resource/resource-reader';
import { ResourceWriter } from '../resource/resource-writer';
import { type StoredResource } from '../resource/stored-resource';
import { type LiveSession, type SessionOwner, SessionTokens } from './session-tokens.repository';

export interface NewSession {
  /** Chosen by the caller when the token must name it (`jti`). */
  readonly id: string;
  readonly grantType: string;
  readonly userId?: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly expiresAt: Date;
  /** The Session whose refresh token opened this one. */
  readonly parentId?: string;
}

/** Opens, finds and closes Sessions. A Session is a resource; the token's hash stands in a table of its own. */
@Injectable()
export class Sessions {
  constructor(
    private readonly writer: ResourceWriter,
    private readonly reader: ResourceReader,
    private readonly tokens: SessionTokens,
    private readonly clock: Clock,
  ) {}

  static newId(): string {
    return randomUUID();
  }

  /** Stores the Session and its token in the open unit of work. */
  async open(session: NewSession): Promise<void> {
    const { id, grantType, userId, clientId, accessToken, expiresAt, parentId } = session;
    const body = {
      type: grantType,
      active: true,
      ...(userId === undefined ? {} : { user: { resourceType: 'User', id: userId } }),
      client: { resourceType: 'Client', id: clientId },
      ...(parentId === undefined ? {} : { parent: { resourceType: 'Session', id: parentId } }),
      start: this.clock.now().toISOString(),
      exp: Math.floor(expiresAt.getTime() / 1000),
    };
    await this.tokens.add({ sessionId: id, userId, clientId, accessToken, expiresAt });
    await this.writer.put(draftOf(id, body), id, { method: 'POST' });
  }

  find(accessToken: string): Promise<LiveSession | undefined> {
    return this.tokens.findLive(accessToken);
  }

  /**
   * Closes a Session: its tokens are refused from the moment that this transaction has committed.
   * @throws ServiceError 'not-found' or 'gone' for a Session that is not stored.
   */
  async close(sessionId: string): Promise<StoredResource> {
    const stored = await this.reader.read('Session', sessionId);
    const session = JSON.parse(stored.text) as { active?: boolean };
    if (session.active === false) return stored;
    return (await this.writer.put(draftOf(sessionId, { ...session, active: false }), sessionId)).resource;
  }

  /**
   * Keeps Sessions of `owner` from being ended all at once until the open unit of work is over. What was true of the
   * owner before must be read again after: who waits for the end of their Sessions must get no new one.
   */
  holdOwner(owner: SessionOwner): Promise<void> {
    return this.tokens.lockOwner(owner, 'shared');
  }

  /** Closes all Sessions of `owner`, those included whose opening began before. */
  async closeAllOf(owner: SessionOwner): Promise<void> {
    await this.tokens.lockOwner(owner, 'exclusive');
    for (const sessionId of await this.tokens.liveSessionIds(owner)) await this.close(sessionId);
  }
}

const draftOf = (id: string, body: object): ResourceDraft =>
  ResourceDraft.of(readJson(JSON.stringify(body)), 'Session', id);
