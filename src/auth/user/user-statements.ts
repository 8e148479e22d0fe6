import { type Statement } from '../../platform/database/statement';

/** The password of a User. */
export const FIND_PASSWORD: Statement = {
  name: 'user-find-password',
  text: 'select password_id, password_hash from user_password where user_id = $1',
};

/**
 * Whom a login name may mean, each with the password: whose `userName` it is ($1), whose `email` ($2), and who has it as an
 * id and has a password.
 */
export const FIND_LOGIN: Statement = {
  name: 'user-find-login',
  text: `select l.kind, l.user_id, p.password_id, p.password_hash
    from user_login l left join user_password p on p.user_id = l.user_id
    where (l.kind = 'userName' and l.login = $1) or (l.kind = 'email' and l.login = $2)
    union all select 'id', user_id, password_id, password_hash from user_password where user_id = $1`,
};
