import { type Statement } from '../../platform/database/statement';

/**
 * Counts a try before it is judged, as if it had failed: of tries at the same time no more are judged than are free. From the `free`th on the key is
 * blocked for 1 s, doubling to at most `pause` seconds. No row comes back when it is blocked. A key is forgotten $1 s after its last try.
 */
const take = (key: string, free: string, pause: string, condition: string): string => `
      insert into credential_failure as f (key, failures, expires_at, blocked_until)
      select ${key}::bytea, 1, clock_timestamp() + make_interval(secs => $1),
        case when ${free}::integer <= 1 then clock_timestamp() + interval '1 second' else '-infinity' end where ${condition}
      on conflict (key) do update set
        failures = case when f.expires_at <= clock_timestamp() then 1 else f.failures + 1 end,
        expires_at = clock_timestamp() + make_interval(secs => $1),
        blocked_until = case when f.expires_at <= clock_timestamp() or f.failures + 1 < ${free} then '-infinity'
          else clock_timestamp() + make_interval(secs => least(${pause}::integer, 2 ^ least(f.failures + 1 - ${free}, 16))) end
      where f.blocked_until <= clock_timestamp()
      returning 1`;

/**
 * Counts a try of an account ($2 to $4) and, if that may be judged, of an address ($5 to $7); tells which were counted, or the seconds until both
 * are free again. Where one is blocked nothing is written, so that a flood of refused tries costs one read each. Here and in {@link FORGET_TRIES}
 * the row of the account is locked first, so that nobody waits in a circle.
 */
export const TAKE_TRIES: Statement = {
  name: 'guess-take-tries',
  text: `with blocked as materialized (
      select ceil(extract(epoch from max(blocked_until) - clock_timestamp()))::integer as seconds
      from credential_failure where key in ($2, $5) and blocked_until > clock_timestamp()
    ), account as (${take('$2', '$3', '$4', '(select seconds from blocked) is null')}
    ), address as (${take('$5', '$6', '$7', 'exists (select from account)')}
    ) select exists (select from account) as account, exists (select from address) as address, seconds from blocked`,
};

const giveBack = (key: string, free: string): string => `
    update credential_failure set failures = greatest(failures - 1, 0),
      blocked_until = case when failures - 1 < ${free}::integer then '-infinity' else blocked_until end
    where key = ${key}`;

/** Gives a try back that was not wrong. */
export const GIVE_BACK_TRY: Statement = { name: 'guess-give-back-try', text: giveBack('$1', '$2') };

/** Forgets the tries of the account $1, and gives one back to the address $2. */
export const FORGET_TRIES: Statement = {
  name: 'guess-forget-tries',
  text: `with account as (delete from credential_failure where key = $1 returning 1)
    ${giveBack('$2', '$3')} and (select count(*) from account) >= 0`,
};

/** Removes what has expired; rows that somebody counts in at the moment are left alone. */
export const SWEEP_TRIES: Statement = {
  name: 'guess-sweep-tries',
  text: `delete from credential_failure where key in (
      select key from credential_failure where expires_at < clock_timestamp() order by expires_at limit 1000 for update skip locked)`,
};
