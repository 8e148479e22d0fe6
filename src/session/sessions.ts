import { Injectable } from '@nestjs/common';
import { inOneFlight } from '../platform/database/in-one-flight';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { membersOf, objectText } from '../platform/json/json-members';
import { readJson } from '../platform/json/read-json';
import { Clock } from '../platform/time/clock';
import { ResourceDraft } from '../model/resource-draft';
import { ResourceWriter } from '../resource/resource-writer';
import { type StoredResource } from '../model/stored-resource';
import { type WriteResult } from '../resource/writes/write';
import { type NewRefreshToken } from './refresh-tokens.repository';
import { SessionGroups, type SessionOwner } from './session-groups';
import { type IssuedToken, type LiveSession, SessionTokens } from './session-tokens.repository';

/** Sessions that are closed at a time on the one connection of a transaction. */
const FLIGHT = 64;

export interface NewSession {
  /** Chosen by the caller when the token must name it (`jti`). */
  readonly id: string;
  readonly grantType: string;
  readonly userId: string | undefined;
  readonly clientId: string;
  readonly accessToken: string;
  /** Names the access token in logs: the `jti` of a JWT, else a UUID of its own. */
  readonly jti: string;
  /** Base URL of the server that issued the token. */
  readonly issuer: string;
  /** The key that signed the token, when it is a JWT. */
  readonly kid: string | undefined;
  readonly expiresAt: Date;
  /** The refresh token that comes with it. */
  readonly refresh: NewRefreshToken | undefined;
  /** The Session whose refresh token opened this one. */
  readonly parentId: string | undefined;
  /** Scope tokens, separated by spaces. */
  readonly scope: string | undefined;
  readonly audience: string | undefined;
}

/** Opens, finds and closes Sessions. A Session is a resource; the token's hash stands in a table of its own. */
@Injectable()
export class Sessions {
  /** @internal */
  constructor(
    private readonly writer: ResourceWriter,
    private readonly tokens: SessionTokens,
    private readonly groups: SessionGroups,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Stores the Session and its tokens in the open unit of work, by one statement. @internal */
  async open(session: NewSession): Promise<void> {
    const { id, userId, clientId, accessToken, kid, expiresAt, refresh, parentId } = session;
    const parts = await this.tokens.partsOf({
      sessionId: id,
      userId,
      clientId,
      accessToken,
      kid,
      expiresAt,
      endsAt: endOf(expiresAt, refresh),
      notesFirstUse: parentId !== undefined,
      refresh,
    });
    await this.writer.create(ResourceDraft.own('Session', sessionBody(session, this.clock.now())), {
      newId: id,
      parts,
    });
  }

  /** The live Session of a token that somebody uses. */
  find(accessToken: string): Promise<LiveSession | undefined> {
    return this.tokens.use(accessToken);
  }

  /** Describes a token, live or not; it does not count as a use of it. @internal */
  describe(accessToken: string): Promise<IssuedToken | undefined> {
    return this.tokens.find(accessToken);
  }

  /**
   * Closes a Session: its tokens are refused from the moment that this transaction has committed.
   * @throws ServiceError 'not-found' or 'gone' for a Session that is not stored.
   */
  close(sessionId: string): Promise<WriteResult> {
    return this.writer.patch('Session', sessionId, (stored) => readJson(closed(stored)), { method: 'PUT' });
  }

  /**
   * Closes a Session and those that its refresh token has been exchanged for in the meantime: whoever ends a Session
   * means all that came of it.
   * @internal
   */
  closeWithSuccessors(sessionId: string): Promise<StoredResource> {
    return this.unitOfWork.run(async () => {
      const familyId = await this.groups.familyOf(sessionId);
      if (familyId !== undefined) await this.closeFamily(familyId);
      return (await this.close(sessionId)).resource;
    });
  }

  /** Closes all Sessions of a family of refresh tokens. @internal */
  closeFamily(familyId: string): Promise<void> {
    return this.unitOfWork.run(async () => {
      await this.groups.lockFamily(familyId);
      await this.closeEach(await this.groups.liveOfFamily(familyId));
    });
  }

  /** Closes all Sessions of `owner`, those included whose opening began before; none is refreshed meanwhile. @internal */
  async closeAllOf(owner: SessionOwner): Promise<void> {
    await this.groups.lockOwner(owner);
    await this.closeEach(await this.groups.liveOfOwner(owner));
  }

  /** Their rows are locked in the order of `sessionIds`, since the connection takes statements as they are sent. */
  private async closeEach(sessionIds: readonly string[]): Promise<void> {
    for (let from = 0; from < sessionIds.length; from += FLIGHT)
      await inOneFlight(sessionIds.slice(from, from + FLIGHT).map((sessionId) => this.close(sessionId)));
  }

  /** Closes the Sessions of JWTs that another key than these signed. @internal */
  async closeSignedByOthers(kids: readonly string[]): Promise<void> {
    for (const sessionId of await this.groups.liveOfOtherKeys(kids)) await this.closeWithSuccessors(sessionId);
  }

  /**
   * Keeps Sessions of these owners from being ended all at once until the open unit of work is over. What was true of an
   * owner before must be read again after: who waits for the end of their Sessions must get no new one.
   * @internal
   */
  holdOwners(owners: { readonly clientId: string; readonly userId?: string }): Promise<void> {
    return this.groups.holdOwners(owners);
  }
}

/** When a Session is over: with its access token, or later with its refresh token; undefined when that has no end. */
function endOf(expiresAt: Date, refresh: NewSession['refresh']): Date | undefined {
  if (refresh === undefined) return expiresAt;
  return refresh.expiresAt === undefined || refresh.expiresAt > expiresAt ? refresh.expiresAt : expiresAt;
}

/** The Session as a resource, when it begins. */
export function sessionBody(session: NewSession, start: Date): object {
  const { grantType, userId, clientId, parentId, scope, audience, expiresAt, refresh, jti, issuer } = session;
  return {
    type: grantType,
    active: true,
    ...(userId === undefined ? {} : { user: { resourceType: 'User', id: userId } }),
    client: { resourceType: 'Client', id: clientId },
    ...(parentId === undefined ? {} : { parent: { resourceType: 'Session', id: parentId } }),
    ...(scope === undefined ? {} : { scope: scope.split(' ') }),
    ...(audience === undefined ? {} : { audience }),
    start: start.toISOString(),
    exp: epochSeconds(expiresAt),
    jti,
    iss: issuer,
    ...(refresh?.expiresAt === undefined ? {} : { refresh_token_exp: epochSeconds(refresh.expiresAt) }),
  };
}

const epochSeconds = (time: Date): number => Math.floor(time.getTime() / 1000);

/** The stored text with `active` false, every other byte as it is. */
function closed(stored: string): string {
  const members = membersOf(stored).map(({ key, valueText }) => [key, key === 'active' ? 'false' : valueText] as const);
  return objectText(members);
}
