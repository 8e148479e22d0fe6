import { type Statement } from '../platform/database/statement';

/** One indexed read per request: the live Session of a token, and the epoch of the cached registries. */
export const FIND_LIVE_SESSION: Statement = {
  name: 'session-find-live',
  text: `select t.session_id, t.user_id, t.client_id, e.epoch
    from session_token t cross join registry_epoch e
    where t.token_hash = $1 and t.closed_at is null and (t.expires_at is null or t.expires_at > clock_timestamp())`,
};

export const IS_LIVE_SESSION: Statement = {
  name: 'session-is-live',
  text: 'select from session_token where session_id = $1 and closed_at is null limit 1',
};

/** First key of the advisory locks on owners of Sessions; the second is a hash. Any number that no other lock uses. */
const OWNER_LOCK_CLASS = 4_713_592;

export const HOLD_OWNER: Statement = {
  name: 'session-hold-owner',
  text: `select pg_advisory_xact_lock_shared(${OWNER_LOCK_CLASS}, hashtext($1))`,
};

export const LOCK_OWNER: Statement = {
  name: 'session-lock-owner',
  text: `select pg_advisory_xact_lock(${OWNER_LOCK_CLASS}, hashtext($1))`,
  lockKey: `${OWNER_LOCK_CLASS}, hashtext(k)`,
};

export const CLOSE_TOKENS: Statement = {
  name: 'session-close-tokens',
  text: 'update session_token set closed_at = clock_timestamp() where session_id = $1 and closed_at is null',
};

/** Without its Session a refresh token must not open another one. */
export const CONSUME_REFRESH_TOKENS: Statement = {
  name: 'session-consume-refresh-tokens',
  text: 'update refresh_token set consumed_at = clock_timestamp() where session_id = $1 and consumed_at is null',
};

/** Whose a refresh token is, before it is used: the owner is held first, so that no two transactions wait in a circle. */
export const FIND_REFRESH_TOKEN_USER: Statement = {
  name: 'session-find-refresh-token-user',
  text: 'select user_id from refresh_token where token_hash = $1 and client_id = $2',
};

/**
 * Of concurrent uses exactly one finds the token unconsumed; closing its Session consumes it too, on the same row lock.
 */
export const CONSUME_REFRESH_TOKEN: Statement = {
  name: 'session-consume-refresh-token',
  text: `update refresh_token r set consumed_at = clock_timestamp()
    where r.token_hash = $1 and r.client_id = $2 and r.consumed_at is null and (r.expires_at is null or r.expires_at > clock_timestamp())
    returning r.family_id, r.session_id`,
};

export const LIVE_SESSIONS_OF_USER: Statement = {
  name: 'session-live-of-user',
  text: 'select distinct session_id from session_token where user_id = $1 and closed_at is null order by session_id',
};

export const LIVE_SESSIONS_OF_CLIENT: Statement = {
  name: 'session-live-of-client',
  text: 'select distinct session_id from session_token where client_id = $1 and closed_at is null order by session_id',
};
