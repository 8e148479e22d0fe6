import { type Statement } from '../../platform/database/statement';

/** How long a denial is kept, and how many denials are kept at most. */
const KEPT_HOURS = 24;
const MAX_DENIALS = 10_000;

export const MAX_LISTED = 50;

export const ADD_DENIAL: Statement = {
  name: 'access-denial-add',
  text: 'insert into access_denial (id, body) values ($1, $2)',
};

export const FIND_DENIAL: Statement = {
  name: 'access-denial-find',
  text: `select id, denied_at, body from access_denial
    where id = $1 and denied_at > clock_timestamp() - interval '${KEPT_HOURS} hours'`,
};

/**
 * Lists the latest denials of a User ($1) or a Client ($2); null selects all. At most {@link MAX_DENIALS} bodies are
 * read, which takes about 50 ms.
 */
export const LATEST_DENIALS: Statement = {
  name: 'access-denial-latest',
  text: `select id, denied_at, body::json->>'request' as request from access_denial
    where denied_at > clock_timestamp() - interval '${KEPT_HOURS} hours'
      and ($1::text is null or body::json->'request'->>'user' = $1)
      and ($2::text is null or body::json->'request'->>'client' = $2)
    order by denial_number desc limit ${MAX_LISTED}`,
};

/**
 * Deletes denials that are too old or too many. Both limits are found by the primary key, `denial_number`: the numbers
 * are in the order of time, except between concurrent writers.
 */
export const PRUNE_DENIALS: Statement = {
  name: 'access-denial-prune',
  text: `delete from access_denial where denial_number <= greatest(
      (select max(denial_number) from access_denial) - ${MAX_DENIALS},
      coalesce((select denial_number from access_denial where denied_at < clock_timestamp() - interval '${KEPT_HOURS} hours'
        order by denial_number desc limit 1), 0))`,
};
