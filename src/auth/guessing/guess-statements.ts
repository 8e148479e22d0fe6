import { type Statement } from '../../platform/database/statement';

/** Seconds until the last of the keys is free again; nothing is written, so that a flood of refused tries costs one read each. */
export const BLOCKED_SECONDS: Statement = {
  name: 'guess-blocked-seconds',
  text: `select ceil(extract(epoch from max(blocked_until) - clock_timestamp()))::integer as seconds
    from credential_failure where key = any($1::bytea[]) and blocked_until > clock_timestamp()`,
};

/**
 * Counts a try before it is judged, as if it had failed: of tries at the same time no more are judged than are free. From the $2nd on the key is
 * blocked for 1 s, doubling to at most $3 s. No row comes back when it is blocked. A key is forgotten $4 s after its last try.
 */
export const TAKE_TRY: Statement = {
  name: 'guess-take-try',
  text: `insert into credential_failure as f (key, failures, expires_at, blocked_until)
    values ($1, 1, clock_timestamp() + make_interval(secs => $4),
      case when $2::integer <= 1 then clock_timestamp() + interval '1 second' else '-infinity' end)
    on conflict (key) do update set
      failures = case when f.expires_at <= clock_timestamp() then 1 else f.failures + 1 end,
      expires_at = clock_timestamp() + make_interval(secs => $4),
      blocked_until = case when f.expires_at <= clock_timestamp() or f.failures + 1 < $2 then '-infinity'
        else clock_timestamp() + make_interval(secs => least($3::integer, 2 ^ least(f.failures + 1 - $2, 16))) end
    where f.blocked_until <= clock_timestamp()
    returning failures`,
};

/** Gives a try back that was not wrong. */
export const GIVE_BACK_TRY: Statement = {
  name: 'guess-give-back-try',
  text: `update credential_failure set failures = greatest(failures - 1, 0),
      blocked_until = case when failures - 1 < $2::integer then '-infinity' else blocked_until end
    where key = $1`,
};

export const FORGET_TRIES: Statement = {
  name: 'guess-forget-tries',
  text: 'delete from credential_failure where key = $1',
};

/** Removes what has expired; rows that somebody counts in at the moment are left alone. */
export const SWEEP_TRIES: Statement = {
  name: 'guess-sweep-tries',
  text: `delete from credential_failure where key in (
      select key from credential_failure where expires_at < clock_timestamp() order by expires_at limit 1000 for update skip locked)`,
};
