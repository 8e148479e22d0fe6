import { type Statement } from '../../platform/database/statement';

/** How long a denial can be asked for, and how many there are at most. */
const KEPT_HOURS = 24;
const MAX_DENIALS = 10_000;

export const ADD_DENIAL: Statement = {
  name: 'access-denial-add',
  text: 'insert into access_denial (id, body) values ($1, $2)',
};

export const FIND_DENIAL: Statement = {
  name: 'access-denial-find',
  text: `select id, denied_at, body from access_denial
    where id = $1 and denied_at > clock_timestamp() - interval '${KEPT_HOURS} hours'`,
};

/** Both ends are walks of the primary key: numbers are given in the order of time, but for writers at the same moment. */
export const PRUNE_DENIALS: Statement = {
  name: 'access-denial-prune',
  text: `delete from access_denial where denial_number <= greatest(
      (select max(denial_number) from access_denial) - ${MAX_DENIALS},
      coalesce((select denial_number from access_denial where denied_at < clock_timestamp() - interval '${KEPT_HOURS} hours'
        order by denial_number desc limit 1), 0))`,
};
