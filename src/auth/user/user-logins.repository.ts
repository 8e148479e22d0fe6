import { Injectable } from '@nestjs/common';
import { LOGIN_LOCK_CLASS } from '../../platform/database/advisory-locks';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { ServiceError } from '../../platform/errors/service-error';
import { ResourceReader } from '../../store/resource-reader';

/**
 * Finds the Users that a login name may mean, with their password hashes: by `userName` ($1), by `email` ($2, the login
 * name in lower case), or by id ($1) if the User has a password.
 */
const FIND_LOGIN: Statement = {
  name: 'user-find-login',
  text: `select l.kind, l.user_id as "userId", p.password_id as "passwordId", p.password_hash as "passwordHash"
    from user_login l left join user_password p on p.user_id = l.user_id
    where (l.kind = 'userName' and l.login = $1) or (l.kind = 'email' and l.login = $2)
    union all select 'id', user_id, password_id, password_hash from user_password where user_id = $1`,
};

const LOCK_LOGINS: Statement = {
  name: 'user-lock-logins',
  text: `select pg_advisory_xact_lock(${LOGIN_LOCK_CLASS}, hashtext(k)) from unnest($1::text[]) k`,
  lockKey: `${LOGIN_LOCK_CLASS}, hashtext(k)`,
};

/**
 * Returns the member of the User $1 whose value another User already has as a login name: `id` ($2), `userName` ($3) or
 * `email` ($4). Emails are stored in lower case; the index `user_login_folded_idx` finds a `userName` by its lower
 * case. Two Users may share an email.
 */
const FIND_CONFLICT: Statement = {
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

const FORGET_LOGINS: Statement = { name: 'user-forget-logins', text: 'delete from user_login where user_id = $1' };

/** Stores the `userName` ($2) and the `email` ($3, in lower case) of a User ($1), as far as they are not null. */
const ADD_LOGINS: Statement = {
  name: 'user-add-logins',
  text: `insert into user_login (user_id, kind, login)
    select $1, kind, login from (values ('userName', $2::text), ('email', $3)) names (kind, login)
    where login is not null`,
};

export interface LoginOwner {
  readonly userId: string;
  /** Null for a User without a password; `passwordHash` is then null too. */
  readonly passwordId: string | null;
  readonly passwordHash: string | null;
}

/** Login names of a User, in addition to its id. */
export interface LoginNames {
  readonly userName?: string | undefined;
  readonly email?: string | undefined;
}

/** Resolves a login name to a User: `userName` as written, else `email` in any case, else the User's id. */
@Injectable()
export class UserLogins {
  constructor(
    private readonly statements: Statements,
    private readonly reader: ResourceReader,
  ) {}

  /**
   * Stores the login names of a User. User names, emails and ids share one namespace: a login name must not resolve to
   * two Users. The only exception is an email that several Users have; it resolves to no User.
   * @param previous the current names of the User, undefined for a new User. Names that stay the same are not checked,
   * since older releases allowed conflicts
   * @throws ServiceError 'duplicate' when another User has one of the new names
   */
  async set(userId: string, { userName, email }: LoginNames, previous: LoginNames | undefined): Promise<void> {
    const isNew = previous === undefined;
    if (!isNew && previous.userName === userName && previous.email === email) return;
    await this.assertFree(userId, {
      id: isNew ? userId : undefined,
      userName: userName === previous?.userName ? undefined : userName,
      email: email === previous?.email ? undefined : email,
    });
    await this.statements.run(FORGET_LOGINS, [userId]);
    await this.statements.run(ADD_LOGINS, [userId, userName, email?.toLowerCase()]);
  }

  /**
   * Refuses a name that another User has. Each name is locked until the transaction ends: if two Users get one name
   * concurrently, the later write is refused.
   */
  private async assertFree(
    userId: string,
    { id, userName, email }: LoginNames & { id?: string | undefined },
  ): Promise<void> {
    const isGiven = (name: string | undefined): name is string => name !== undefined;
    const names = [id, userName, email].filter(isGiven).map((name) => name.toLowerCase());
    await this.statements.run(LOCK_LOGINS, [[...new Set(names)].sort()]);
    const conflict = await this.statements.runOne<{ member: string }>(FIND_CONFLICT, [userId, id, userName, email]);
    if (conflict !== undefined) throw taken(conflict.member);
    const ids = [userName, email, email?.toLowerCase()].filter(isGiven).filter((name) => name !== userId);
    const [other] = await this.reader.findMany('User', ids);
    if (other !== undefined) throw taken(other.id === userName ? 'userName' : 'email');
  }

  /** Returns the User that `login` resolves to; undefined if there is none, or if several Users have this email. */
  async find(login: string): Promise<LoginOwner | undefined> {
    const found = await this.statements.run<LoginOwner & { kind: string }>(FIND_LOGIN, [login, login.toLowerCase()]);
    const kind = ['userName', 'email', 'id'].find((one) => found.some((row) => row.kind === one));
    const [owner, ...others] = found.filter((row) => row.kind === kind);
    return others.length === 0 ? owner : undefined;
  }
}

const taken = (member: string): ServiceError =>
  new ServiceError('login-name-taken', `Another User has this ${member} as a login name. Choose another one.`, {
    expression: `User.${member}`,
  });
