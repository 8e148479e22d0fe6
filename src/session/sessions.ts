import { Injectable } from '@nestjs/common';
import { SESSION_FAMILY_LOCK_CLASS, SESSION_OWNER_LOCK_CLASS } from '../platform/database/advisory-locks';
import { pipelined } from '../platform/database/pipelined';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { withMember } from '../platform/json/json-members';
import { readJson, type ScannedJson } from '../platform/json/read-json';
import { Clock, epochSeconds } from '../platform/time/clock';
import { ResourceDraft } from '../model/resource-draft';
import { ResourceWriter } from '../resource/resource-writer';
import { type StoredResource } from '../model/stored-resource';
import { type Epochs } from '../platform/request/epochs';
import { type WriteResult } from '../resource/writes/write';
import { type NewSession, SessionTokens, tokenHashOf } from './session-tokens.repository';

/**
 * SQL that finds live Sessions, and the epochs of registries and rights.
 * @param tokens a table expression of `session_token t`
 */
export const liveSessionSql = (tokens: string): string =>
  `select t.session_id as "sessionId", t.user_id as "userId", t.client_id as "clientId", t.is_unused as "isUnused",
      e.epoch as registries, e.rights_epoch as rights
    from ${tokens} cross join registry_epoch e
    where t.closed_at is null and (t.expires_at is null or t.expires_at > clock_timestamp())`;

/** Finds the live Session of a token by its hash ($1). Each request runs it, so it is one indexed read. */
export const FIND_LIVE_SESSION: Statement = {
  name: 'session-find-live',
  text: `${liveSessionSql('session_token t')} and t.token_hash = $1`,
};

/**
 * Records the first use of an access token. It is committed before the request continues. Otherwise a later exchange of
 * the old refresh token would treat this access token as unused.
 */
const MARK_USED: Statement = {
  name: 'session-mark-used',
  text: 'update session_token set is_unused = false where token_hash = $1 and is_unused',
};

const HOLD_OWNERS: Statement = {
  name: 'session-hold-owners',
  text: `select pg_advisory_xact_lock_shared(${SESSION_OWNER_LOCK_CLASS}, hashtext(k)) from unnest($1::text[]) k`,
};

const LOCK_OWNER: Statement = {
  name: 'session-lock-owner',
  text: `select pg_advisory_xact_lock(${SESSION_OWNER_LOCK_CLASS}, hashtext($1))`,
  lockKey: `${SESSION_OWNER_LOCK_CLASS}, hashtext(k)`,
};

const LOCK_FAMILY: Statement = {
  name: 'session-lock-family',
  text: `select pg_advisory_xact_lock(${SESSION_FAMILY_LOCK_CLASS}, hashtext($1))`,
};

const FAMILY_OF_SESSION: Statement = {
  name: 'session-family-of-session',
  text: 'select family_id from refresh_token where session_id = $1 limit 1',
};

const LIVE_SESSIONS_OF_FAMILY: Statement = {
  name: 'session-live-of-family',
  text: `select distinct t.session_id from refresh_token r join session_token t on t.session_id = r.session_id
    where r.family_id = $1 and t.closed_at is null order by 1`,
};

const LIVE_SESSIONS_OF = {
  User: {
    name: 'session-live-of-user',
    text: 'select distinct session_id from session_token where user_id = $1 and closed_at is null order by session_id',
  },
  Client: {
    name: 'session-live-of-client',
    text: 'select distinct session_id from session_token where client_id = $1 and closed_at is null order by session_id',
  },
} as const satisfies Record<string, Statement>;

export interface LiveSession {
  readonly sessionId: string;
  readonly userId?: string;
  readonly clientId: string;
  /** The epochs of registries and rights, read in the same statement as the Session. */
  readonly epochs: Epochs;
}

/** A row of {@link liveSessionSql}. */
export interface LiveSessionRow extends Epochs {
  readonly sessionId: string;
  readonly userId: string | null;
  readonly clientId: string;
  readonly isUnused: boolean;
}

/** How many Sessions are closed in one pipelined round trip of a transaction. */
const PIPELINE_LENGTH = 64;

/**
 * Opens, finds and closes Sessions. A Session is a resource; the hashes of its tokens are in separate tables. Locks are
 * always taken in the order owner (User and Client), family of refresh tokens, Session. So transactions of this server
 * cannot deadlock.
 * @example
 * const session = await sessions.find('an access token');
 * if (session !== undefined) await sessions.close(session.sessionId);
 */
@Injectable()
export class Sessions {
  /** @internal */
  constructor(
    private readonly writer: ResourceWriter,
    private readonly tokens: SessionTokens,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Stores the Session and its tokens by one statement, in the open unit of work. @internal */
  async open(session: NewSession): Promise<void> {
    const parts = await this.tokens.partsOf(session);
    const draft = ResourceDraft.own('Session', sessionBody(session, this.clock.now()));
    await this.writer.create(draft, { newId: session.id, parts });
  }

  /** Finds the live Session of an access token, and counts as a use of the token. */
  async find(accessToken: string): Promise<LiveSession | undefined> {
    const hash = tokenHashOf(accessToken);
    const row = await this.statements.runOne<LiveSessionRow>(FIND_LIVE_SESSION, [hash]);
    if (row === undefined) return undefined;
    if (row.isUnused) await this.statements.run(MARK_USED, [hash]);
    return liveSessionOf(row);
  }

  /**
   * Closes a Session. Its tokens are refused as soon as the transaction commits.
   * @throws ServiceError 'not-found' or 'gone' for a Session that is not stored.
   */
  close(sessionId: string): Promise<WriteResult> {
    return this.writer.patch('Session', sessionId, inactive, { method: 'PUT' });
  }

  /** Like {@link close}, but returns undefined for a Session that another request has deleted meanwhile. @internal */
  closeIfStored(sessionId: string): Promise<WriteResult | undefined> {
    // If the transaction is repeated, `found` begins anew: the Session may be deleted by then.
    return this.unitOfWork.run(async () => {
      const found = { isStored: false };
      const patch = (stored: string): ScannedJson => {
        found.isStored = true;
        return inactive(stored);
      };
      try {
        return await this.writer.patch('Session', sessionId, patch, { method: 'PUT' });
      } catch (error) {
        // Of a stored Session, such an error comes from a listener, and cancels the write.
        if (found.isStored || !(error instanceof ServiceError)) throw error;
        if (error.kind === 'gone' || error.kind === 'not-found') return undefined;
        throw error;
      }
    });
  }

  /** Closes a Session and all Sessions of its family of refresh tokens (the tokens of one login). @internal */
  closeWithSuccessors(sessionId: string): Promise<StoredResource | undefined> {
    return this.unitOfWork.run(async () => {
      const family = await this.statements.runOne<{ family_id: string }>(FAMILY_OF_SESSION, [sessionId]);
      if (family !== undefined) await this.closeFamily(family.family_id);
      return (await this.closeIfStored(sessionId))?.resource;
    });
  }

  /** Closes all Sessions of a family of refresh tokens. @internal */
  closeFamily(familyId: string): Promise<void> {
    return this.unitOfWork.run(async () => {
      await this.lockFamily(familyId);
      await this.closeEach(LIVE_SESSIONS_OF_FAMILY, familyId);
    });
  }

  /**
   * Locks a family of refresh tokens until the open unit of work ends: exchanges of its tokens and closes of its
   * Sessions run one after the other. @internal
   */
  async lockFamily(familyId: string): Promise<void> {
    await this.statements.run(LOCK_FAMILY, [familyId]);
  }

  /**
   * Closes all Sessions of a User or Client. It waits for Sessions that are being opened and closes them too; meanwhile
   * no refresh token of the owner is exchanged. @internal
   */
  async closeAllOf(type: 'User' | 'Client', id: string): Promise<void> {
    await this.statements.run(LOCK_OWNER, [`${type}/${id}`]);
    await this.closeEach(LIVE_SESSIONS_OF[type], id);
  }

  /**
   * Blocks {@link closeAllOf} for this User and Client until the open unit of work ends. Read both after this call: a
   * User or Client that was deactivated before must get no new Session.
   * @internal
   */
  async holdOwners({ clientId, userId }: { readonly clientId: string; readonly userId?: string }): Promise<void> {
    const names = [`Client/${clientId}`, ...(userId === undefined ? [] : [`User/${userId}`])];
    await this.statements.run(HOLD_OWNERS, [names]);
  }

  /**
   * Closes the Sessions that the statement finds, in the order of their ids. The connection runs statements in the
   * order sent, so the rows are locked in that order too.
   */
  private async closeEach(statement: Statement, owner: string): Promise<void> {
    const rows = await this.statements.run<{ session_id: string }>(statement, [owner]);
    const sessionIds = rows.map(({ session_id: sessionId }) => sessionId);
    for (let from = 0; from < sessionIds.length; from += PIPELINE_LENGTH)
      await pipelined(sessionIds.slice(from, from + PIPELINE_LENGTH).map((id) => this.closeIfStored(id)));
  }
}

const inactive = (stored: string): ScannedJson => readJson(withMember(stored, 'active', 'false'));

export const liveSessionOf = ({ sessionId, userId, clientId, registries, rights }: LiveSessionRow): LiveSession => ({
  sessionId,
  clientId,
  epochs: { registries, rights },
  ...(userId === null ? {} : { userId }),
});

export function sessionBody(session: NewSession, start: Date): object {
  const { grantType, userId, clientId, parentId, scope, audience, expiresAt, refresh, jti, issuer } = session;
  return {
    type: grantType,
    active: true,
    ...(userId === undefined ? {} : { user: { resourceType: 'User', id: userId } }),
    client: { resourceType: 'Client', id: clientId },
    ...(parentId === undefined ? {} : { parent: { resourceType: 'Session', id: parentId } }),
    scope: scope?.split(' '),
    audience,
    start: start.toISOString(),
    exp: epochSeconds(expiresAt),
    jti,
    iss: issuer,
    refresh_token_exp: refresh?.expiresAt && epochSeconds(refresh.expiresAt),
  };
}
