import { LOGIN_LOCK_CLASS } from '../../platform/database/advisory-locks';
import { type Statement } from '../../platform/database/statement';

export const FIND_PASSWORD: Statement = {
  name: 'user-find-password',
  text: 'select password_id as "passwordId", password_hash as "passwordHash" from user_password where user_id = $1',
};

export const LOCK_PASSWORD: Statement = { name: 'user-lock-password', text: `${FIND_PASSWORD.text} for update` };

/**
 * Finds the Users that a login name may mean, with their password hashes: by `userName` ($1), by `email` ($2, the login
 * name in lower case), or by id ($1) if the User has a password.
 */
export const FIND_LOGIN: Statement = {
  name: 'user-find-login',
  text: `select l.kind, l.user_id as "userId", p.password_id as "passwordId", p.password_hash as "passwordHash"
    from user_login l left join user_password p on p.user_id = l.user_id
    where (l.kind = 'userName' and l.login = $1) or (l.kind = 'email' and l.login = $2)
    union all select 'id', user_id, password_id, password_hash from user_password where user_id = $1`,
};

export const LOCK_LOGINS: Statement = {
  name: 'user-lock-logins',
  text: `select pg_advisory_xact_lock(${LOGIN_LOCK_CLASS}, hashtext(k)) from unnest($1::text[]) k`,
  lockKey: `${LOGIN_LOCK_CLASS}, hashtext(k)`,
};

/**
 * Returns the member of the User $1 whose value another User already has as a login name: `id` ($2), `userName` ($3) or
 * `email` ($4). Emails are stored in lower case; the index `user_login_folded_idx` finds a `userName` by its lower
 * case. Two Users may share an email.
 */
export const FIND_CONFLICT: Statement = {
  name: 'user-find-conflict',
  text: `
    select 'id' as member from user_login
      where user_id <> $1 and ((kind = 'userName' and login = $2) or (kind = 'email' and login = lower($2)))
    union all select 'userName' from user_login
      where user_id <> $1 and ((kind = 'userName' and login = $3) or (kind = 'email' and login = lower($3)))
    union all select 'email' from user_login
      where user_id <> $1 and kind = 'userName' and lower(login) = lower($4)
    limit 1`,
};
