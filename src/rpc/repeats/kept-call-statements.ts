import { type Statement } from '../../platform/database/statement';
import { sweepOf } from '../../platform/database/sweep';

/** Maximum number of kept calls of one caller. From time to time, the oldest beyond it are deleted. */
const MOST_OF_CALLER = 10_000;

/**
 * Locks a call until the transaction ends ($1: a number derived from its key). Returns false while another transaction,
 * on any replica, runs the same call.
 */
export const LOCK_CALL: Statement = {
  name: 'rpc-kept-call-lock',
  text: 'select pg_try_advisory_xact_lock($1::bigint) as is_mine',
};

/** Finds a kept call that has not expired ($1: hash of its key). */
export const FIND_CALL: Statement = {
  name: 'rpc-kept-call-find',
  text: 'select digest, kept from rpc_kept_call where call_hash = $1 and expires_at > clock_timestamp()',
};

/** Stores a call ($1 hash of its key, $2 digest, $3 caller, $4 result). An older row with this key has expired. */
export const KEEP_CALL: Statement = {
  name: 'rpc-kept-call-keep',
  text: `insert into rpc_kept_call as k (call_hash, expires_at, digest, caller, kept)
    values ($1, clock_timestamp() + interval '24 hours', $2, $3, $4)
    on conflict (call_hash) do update
      set expires_at = excluded.expires_at, digest = excluded.digest, caller = excluded.caller, kept = excluded.kept`,
};

/** Deletes the oldest calls of a caller ($1) beyond the maximum. */
export const FORGET_OLDEST: Statement = {
  name: 'rpc-kept-call-forget-oldest',
  text: `delete from rpc_kept_call where call_hash in (
      select call_hash from rpc_kept_call where caller = $1 order by expires_at desc offset ${MOST_OF_CALLER} limit 1000)`,
};

export const SWEEP_CALLS = sweepOf('rpc-kept-call-sweep', 'rpc_kept_call', 'call_hash');
