import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { isUniqueViolation } from '../../platform/database/database-error';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { UserLoginEntity } from './user-login.entity';
import { type PasswordRow, type StoredPassword, storedPasswordOf } from './user-passwords.repository';
import { FIND_LOGIN } from './user-statements';

export interface LoginOwner {
  readonly userId: string;
  readonly password: StoredPassword | undefined;
}

interface LoginRow extends PasswordRow {
  readonly kind: 'userName' | 'email' | 'id';
  readonly user_id: string;
}

/** Which User a login name means: `userName` as written, else `email` in any case, else the User's id. */
@Injectable()
export class UserLogins {
  constructor(
    @InjectRepository(UserLoginEntity) private readonly rows: Repository<UserLoginEntity>,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** @throws ServiceError 'duplicate' when another User has the userName. */
  async set(
    userId: string,
    { userName, email }: { userName: string | undefined; email: string | undefined },
  ): Promise<void> {
    const rows = this.unitOfWork.bind(this.rows);
    await rows.delete({ userId });
    const logins: UserLoginEntity[] = [
      ...(userName === undefined ? [] : [{ kind: 'userName' as const, login: userName, userId }]),
      ...(email === undefined ? [] : [{ kind: 'email' as const, login: email.toLowerCase(), userId }]),
    ];
    if (logins.length === 0) return;
    try {
      await rows.insert(logins);
    } catch (error) {
      if (!isUniqueViolation(error, 'user_login_user_name_idx')) throw error;
      throw new ServiceError('duplicate', 'Another User has this userName. Choose another one.', {
        expression: 'User.userName',
      });
    }
  }

  async remove(userId: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).delete({ userId });
  }

  /** The one User that `login` means; undefined when there is none, or an email that several Users share. */
  async find(login: string): Promise<LoginOwner | undefined> {
    const found = await this.statements.run<LoginRow>(FIND_LOGIN, [login, login.toLowerCase()]);
    const of = (wanted: LoginRow['kind']): readonly LoginRow[] => found.filter(({ kind }) => kind === wanted);
    const means = [of('userName'), of('email'), of('id')].find(({ length }) => length > 0) ?? [];
    const [row] = means;
    if (row === undefined || means.length > 1) return undefined;
    return { userId: row.user_id, password: storedPasswordOf(row) };
  }
}
