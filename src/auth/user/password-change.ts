import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { withMember } from '../../platform/json/json-members';
import { readJson } from '../../platform/json/read-json';
import { ResourceWriter } from '../../resource/resource-writer';
import { CredentialGuard } from '../guessing/credential-guard';
import { HashSlots } from '../hashing/hash-slots';
import { isPasswordLength, normalisedPassword, PasswordHash } from '../hashing/password-hash';
import { NewPasswords } from './new-passwords';
import { type UserPasswordEntity } from './user-password.entity';
import { UserPasswords } from './user-passwords.repository';

/**
 * Changes the password of the calling User. It computes two hashes: one checks the current password, the other is
 * stored for the new password.
 */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly passwords: UserPasswords,
    private readonly newPasswords: NewPasswords,
    private readonly hashes: PasswordHash,
    private readonly slots: HashSlots,
    private readonly writer: ResourceWriter,
    private readonly guesses: CredentialGuard,
    private readonly unitOfWork: UnitOfWork,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Stores the new password, which ends all Sessions of the User.
   * @throws ServiceError 'unprocessable' for a wrong current password or an unsuitable new one, 'conflict' after a
   * concurrent change, 'busy' when no slot becomes free.
   */
  async change(userId: string, current: string, next: string): Promise<void> {
    this.newPasswords.assertNew(next, 'newPassword');
    if (!isPasswordLength(current)) throw wrong();
    const { ticket } = this.requests;
    const { verified, hash } = await this.slots.run(ticket, () => this.hash(userId, current, next));
    await this.unitOfWork.run(async () => {
      if ((await this.passwords.lock(userId))?.passwordId !== verified?.passwordId) throw changedMeanwhile();
      // The rule of Users stores this hash as it is and ends the Sessions. The patch creates a new version of the User.
      await this.writer.patch('User', userId, (text) => readJson(withMember(text, 'password', JSON.stringify(hash))));
    });
  }

  private async hash(
    userId: string,
    current: string,
    next: string,
  ): Promise<{ verified: UserPasswordEntity | undefined; hash: string }> {
    const verified = await this.passwords.find(userId);
    const judge = async (): Promise<void> => {
      if (!(await this.hashes.isRight(current, verified?.passwordHash))) throw wrong();
    };
    await this.guesses.judge({ kind: 'user', name: userId }, [current], judge, isWrong);
    if (normalisedPassword(next) === normalisedPassword(current)) {
      throw new ServiceError('password-rejected', 'newPassword must differ from currentPassword.', {
        expression: 'newPassword',
      });
    }
    return { verified, hash: await this.hashes.hash(next) };
  }
}

const wrong = (): ServiceError =>
  new ServiceError('password-wrong', 'currentPassword is wrong.', { expression: 'currentPassword' });

const isWrong = (error: unknown): boolean =>
  error instanceof ServiceError && error.details.expression === 'currentPassword';

const changedMeanwhile = (): ServiceError =>
  new ServiceError('user-changed', 'The User was changed meanwhile. Log in and try again.');
