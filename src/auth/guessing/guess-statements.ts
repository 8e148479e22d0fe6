import { type Statement } from '../../platform/database/statement';
import { sweepOf } from '../../platform/database/sweep';

/**
 * Counts a try of an account ($2) as failed before it is judged, so concurrent tries cannot exceed the free tries. From
 * failure number $3 on, the account is blocked: for 1 s at first, then twice as long after each failure, up to $4
 * seconds. The row expires $1 seconds after the last counted try. For a blocked account the statement writes nothing,
 * so a flood of refused tries causes no writes. The row of the address ($5) is only read: if it has more than $6
 * failures, its remaining seconds are returned.
 */
export const TAKE_TRY: Statement = {
  name: 'guess-take-try',
  text: `with blocked as materialized (
      select ceil(extract(epoch from max(blocked_until) - clock_timestamp()))::integer as seconds
      from credential_failure where key = $2 and blocked_until > clock_timestamp()
    ), taken as (
      insert into credential_failure as f (key, failures, expires_at, blocked_until)
      select $2::bytea, 1, clock_timestamp() + make_interval(secs => $1),
        case when $3::integer <= 1 then clock_timestamp() + interval '1 second' else '-infinity' end
        where (select seconds from blocked) is null
      on conflict (key) do update set
        failures = case when f.expires_at <= clock_timestamp() then 1 else f.failures + 1 end,
        expires_at = clock_timestamp() + make_interval(secs => $1),
        blocked_until = case when f.expires_at <= clock_timestamp() or f.failures + 1 < $3 then '-infinity'
          else clock_timestamp() + make_interval(secs => least($4::integer, 2 ^ least(f.failures + 1 - $3, 16))) end
      where f.blocked_until <= clock_timestamp()
      returning 1
    ) select exists (select from taken) as is_taken, seconds,
      (select extract(epoch from expires_at - clock_timestamp())::float8 from credential_failure
        where key = $5 and failures > $6::integer and expires_at > clock_timestamp()) as slow_seconds
    from blocked`,
};

/**
 * Undoes {@link TAKE_TRY}, for a try that ended without a verdict. The account is unblocked if fewer than $2 failures
 * remain.
 */
export const GIVE_BACK_TRY: Statement = {
  name: 'guess-give-back',
  text: `update credential_failure set failures = greatest(failures - 1, 0),
      blocked_until = case when failures - 1 < $2::integer then '-infinity' else blocked_until end
    where key = $1`,
};

/** Deletes the count of an account ($1), after a try with the right credentials. */
export const FORGET_TRIES: Statement = {
  name: 'guess-forget',
  text: 'delete from credential_failure where key = $1',
};

/**
 * Counts a failure of an address ($2). The row expires $1 seconds after the last failure. An address with more than $3
 * failures is slow until then, but never blocked.
 */
export const COUNT_FAILURE: Statement = {
  name: 'guess-count-failure',
  text: `insert into credential_failure as f (key, failures, expires_at, blocked_until)
    values ($2, 1, clock_timestamp() + make_interval(secs => $1), '-infinity')
    on conflict (key) do update set
      failures = case when f.expires_at <= clock_timestamp() then 1 else f.failures + 1 end,
      expires_at = clock_timestamp() + make_interval(secs => $1)
    returning case when failures > $3::integer then $1::float8 end as slow_seconds`,
};

export const SWEEP_TRIES = sweepOf('guess-sweep-tries', 'credential_failure', 'key');
