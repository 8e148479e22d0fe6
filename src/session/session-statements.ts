import { SESSION_FAMILY_LOCK_CLASS, SESSION_OWNER_LOCK_CLASS } from '../platform/database/advisory-locks';
import { assertRightsSql } from '../platform/database/registry-epoch';
import { type Statement } from '../platform/database/statement';

/**
 * Finds the live Session of a token by its hash ($1), and the epochs of registries and rights. Each request runs it, so
 * it is one indexed read.
 */
export const FIND_LIVE_SESSION: Statement = {
  name: 'session-find-live',
  text: `select t.session_id as "sessionId", t.user_id as "userId", t.client_id as "clientId", t.is_unused as "isUnused",
      e.epoch as registries, e.rights_epoch as rights
    from session_token t cross join registry_epoch e
    where t.token_hash = $1 and t.closed_at is null and (t.expires_at is null or t.expires_at > clock_timestamp())`,
};

/**
 * SQL that stores an access token; it is a part of the statement that stores its Session. `rights` is the rights epoch
 * (a counter of changes of rights) at which the User and the Client were read. If the epoch has risen since, the
 * statement fails with a conflict.
 */
export const addTokenSql = ([
  session,
  user,
  client,
  hash,
  expires,
  ends,
  unused,
  kid,
  rights = '',
]: readonly string[]): string =>
  `insert into session_token (session_id, user_id, client_id, token_hash, expires_at, ends_at, is_unused, kid)
    select ${session}::text, ${user}::text, ${client}::text, ${hash}::bytea, ${expires}::timestamptz, ${ends}::timestamptz, ${unused}::boolean, ${kid}::text
    where ${assertRightsSql(`${rights}::bigint`)} = 0`;

/** SQL that stores the refresh token of the same response. */
export const addRefreshTokenSql = (places: readonly string[]): string =>
  `insert into refresh_token (session_id, user_id, client_id, token_hash, expires_at, family_id, grant_type, scope, audience)
    values (${places.join(', ')})`;

/**
 * Records the first use of an access token. It is committed before the request continues. Otherwise a later exchange of
 * the old refresh token would treat this access token as unused.
 */
export const MARK_USED: Statement = {
  name: 'session-mark-used',
  text: 'update session_token set is_unused = false where token_hash = $1 and is_unused',
};

export const HOLD_OWNERS: Statement = {
  name: 'session-hold-owners',
  text: `select pg_advisory_xact_lock_shared(${SESSION_OWNER_LOCK_CLASS}, hashtext(k)) from unnest($1::text[]) k`,
};

export const LOCK_OWNER: Statement = {
  name: 'session-lock-owner',
  text: `select pg_advisory_xact_lock(${SESSION_OWNER_LOCK_CLASS}, hashtext($1))`,
  lockKey: `${SESSION_OWNER_LOCK_CLASS}, hashtext(k)`,
};

export const LOCK_FAMILY: Statement = {
  name: 'session-lock-family',
  text: `select pg_advisory_xact_lock(${SESSION_FAMILY_LOCK_CLASS}, hashtext($1))`,
};

/**
 * Ends the access tokens and refresh tokens of a Session ($1). The refresh token of a closed Session must not open
 * another Session.
 */
export const CLOSE_TOKENS: Statement = {
  name: 'session-close-tokens',
  text: `with closed as (
      update session_token set closed_at = clock_timestamp() where session_id = $1 and closed_at is null
    ) update refresh_token set consumed_at = clock_timestamp() where session_id = $1 and consumed_at is null`,
};

export const FIND_REFRESH_TOKEN: Statement = {
  name: 'session-find-refresh-token',
  text: `select family_id as "familyId", session_id as "sessionId", user_id as "userId", client_id as "clientId",
      grant_type as "grantType", scope, audience, expires_at as "expiresAt",
      consumed_at is null and (expires_at is null or expires_at > clock_timestamp()) as "isLive"
    from refresh_token where token_hash = $1`,
};

/**
 * Reads the state of a refresh token ($1) whose family is locked. Its successors, the new access and refresh token,
 * count as unused if neither was sent to the server yet: the response that contained them may have been lost. $2:
 * within how many seconds a second exchange may be a repeated request.
 */
export const REFRESH_TOKEN_STATE: Statement = {
  name: 'session-refresh-token-state',
  text: `select r.consumed_at is null as is_unused,
      coalesce(r.expires_at <= clock_timestamp(), false) as is_expired,
      coalesce(r.consumed_at > clock_timestamp() - make_interval(secs => $2::float8), false)
        and exists (select from session_token t
          where t.session_id = r.successor_session_id and t.closed_at is null and t.is_unused)
        and exists (select from refresh_token s
          where s.session_id = r.successor_session_id and s.consumed_at is null) as has_unused_successors
    from refresh_token r where r.token_hash = $1`,
};

export const SET_SUCCESSOR: Statement = {
  name: 'session-set-successor',
  text: 'update refresh_token set successor_session_id = $2 where token_hash = $1',
};

export const FAMILY_OF_SESSION: Statement = {
  name: 'session-family-of-session',
  text: 'select family_id from refresh_token where session_id = $1 limit 1',
};

export const LIVE_SESSIONS_OF_FAMILY: Statement = {
  name: 'session-live-of-family',
  text: `select distinct t.session_id from refresh_token r join session_token t on t.session_id = r.session_id
    where r.family_id = $1 and t.closed_at is null order by 1`,
};

export const LIVE_SESSIONS_OF_USER: Statement = {
  name: 'session-live-of-user',
  text: 'select distinct session_id from session_token where user_id = $1 and closed_at is null order by session_id',
};

export const LIVE_SESSIONS_OF_CLIENT: Statement = {
  name: 'session-live-of-client',
  text: 'select distinct session_id from session_token where client_id = $1 and closed_at is null order by session_id',
};

export const ENDED_SESSIONS: Statement = {
  name: 'session-ended',
  text: `select session_id from session_token where closed_at is null and ends_at <= clock_timestamp()
    order by ends_at limit $1`,
};

export const OUTDATED_SESSIONS: Statement = {
  name: 'session-outdated',
  text: `select session_id from session_token where closed_at <= clock_timestamp() - make_interval(days => $1::int)
    order by closed_at limit $2`,
};

export const FORGET_TOKENS: Statement = {
  name: 'session-forget-tokens',
  text: `with forgotten as (delete from refresh_token where session_id = $1)
    delete from session_token where session_id = $1`,
};

/** The count of active Sessions stops above this number. */
export const MOST_SESSIONS_COUNTED = 10_000;

export const COUNT_LIVE_SESSIONS: Statement = {
  name: 'session-count-live',
  text: `select count(*) as live from (select from session_token
    where closed_at is null and (ends_at is null or ends_at > clock_timestamp()) limit ${MOST_SESSIONS_COUNTED + 1}) counted`,
};

/** Ids of the signing keys whose tokens are still valid, so that a resource server may need to verify them. */
export const KIDS_OF_LIVE_TOKENS: Statement = {
  name: 'session-kids-of-live-tokens',
  text: `select distinct kid from session_token
    where kid is not null and closed_at is null and (expires_at is null or expires_at > clock_timestamp())`,
};

/** Sessions of JWTs that were signed by any key except $1. */
export const LIVE_SESSIONS_OF_OTHER_KEYS: Statement = {
  name: 'session-live-of-other-keys',
  text: 'select session_id from session_token where kid <> $1 and closed_at is null order by session_id',
};

/** Finds an issued access token by its hash ($1), live or not. */
export const FIND_TOKEN: Statement = {
  name: 'session-find-token',
  text: `select session_id as "sessionId", user_id as "userId", client_id as "clientId", expires_at as "expiresAt",
      closed_at is null and (expires_at is null or expires_at > clock_timestamp()) as "isLive"
    from session_token where token_hash = $1`,
};
