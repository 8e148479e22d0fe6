import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { isUniqueViolation } from '../../platform/database/database-error';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { UserLoginEntity } from './user-login.entity';
import { UserPasswords } from './user-passwords.repository';

/** Which User a login name means: `userName` as written, else `email` in any case, else the User's id. */
@Injectable()
export class UserLogins {
  constructor(
    @InjectRepository(UserLoginEntity) private readonly rows: Repository<UserLoginEntity>,
    private readonly passwords: UserPasswords,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** @throws ServiceError 'conflict' when another User has the userName. */
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
      throw new ServiceError('conflict', 'Another User has this userName.', { expression: 'User.userName' });
    }
  }

  async remove(userId: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).delete({ userId });
  }

  /** The id of the one User that `login` means; undefined when there is none, or an email that several Users share. */
  async find(login: string): Promise<string | undefined> {
    const found = await this.rows.findBy([
      { kind: 'userName', login },
      { kind: 'email', login: login.toLowerCase() },
    ]);
    const byName = found.find(({ kind }) => kind === 'userName');
    if (byName !== undefined) return byName.userId;
    if (found.length > 0) return found.length === 1 ? found[0]?.userId : undefined;
    return (await this.passwords.find(login)) === undefined ? undefined : login;
  }
}
