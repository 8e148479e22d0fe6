import { type Statement } from '../../platform/database/statement';

/** Any number that no other advisory lock uses. */
const ROTATION_LOCK = 4_713_595;

export const LOCK_ROTATION: Statement = {
  name: 'signing-key-lock-rotation',
  text: `select pg_advisory_xact_lock(${ROTATION_LOCK})`,
};

/** Whoever issues a token keeps the key that signs it from being withdrawn until the token is stored. */
export const HOLD_KEYS: Statement = {
  name: 'signing-key-hold',
  text: `select pg_advisory_xact_lock_shared(${ROTATION_LOCK})`,
};

/** $5: seconds from now; the clock is the database's, so that all replicas change keys at once. */
export const ADD_KEY: Statement = {
  name: 'signing-key-add',
  text: `insert into signing_key (kid, algorithm, public_key, wrapped_private_key, signs_from)
    values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5::float8)) returning kid, signs_from`,
};

export const FIND_SIGNING_KEY: Statement = {
  name: 'signing-key-find',
  text: `select kid, algorithm, wrapped_private_key from signing_key
    where signs_from <= clock_timestamp() order by signs_from desc, kid limit 1`,
};

export const LIST_KEYS: Statement = {
  name: 'signing-key-list',
  text: 'select kid, algorithm, public_key from signing_key order by signs_from desc, kid',
};

/** A key that is published and does not sign yet. */
export const FIND_NEXT_KEY: Statement = {
  name: 'signing-key-find-next',
  text: 'select kid, signs_from from signing_key where signs_from > clock_timestamp() order by signs_from limit 1',
};

/** Keys that sign no more: another one has taken over. */
export const LIST_SUPERSEDED: Statement = {
  name: 'signing-key-list-superseded',
  text: `select kid from signing_key where signs_from <= clock_timestamp()
    order by signs_from desc, kid offset 1`,
};

export const REMOVE_KEYS: Statement = {
  name: 'signing-key-remove',
  text: 'delete from signing_key where kid = any($1)',
};

export const KEEP_ONLY: Statement = {
  name: 'signing-key-keep-only',
  text: 'delete from signing_key where kid <> $1 returning kid',
};
