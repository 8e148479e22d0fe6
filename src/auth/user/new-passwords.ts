import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { HashSlots } from '../hashing/hash-slots';
import { claimsToBeHash, passwordFormatOf } from '../hashing/password-format';
import { isPasswordLength, MAX_PASSWORD_BYTES, PasswordHash, passwordLength } from '../hashing/password-hash';
import { UserPasswords } from './user-passwords.repository';

export interface NewPassword {
  readonly text: string;
  /** The hash of `text`, or `text` itself if that is a hash. Absent when the User already has this password. */
  readonly hash?: string;
  /** Id of the stored password, if it equals `text`. */
  readonly sameAs?: string;
}

/** Sets passwords of Users. A plain password is hashed; a hash from a compatible server is stored unchanged. */
@Injectable()
export class NewPasswords {
  constructor(
    private readonly passwords: UserPasswords,
    private readonly hashes: PasswordHash,
    private readonly slots: HashSlots,
    private readonly unitOfWork: UnitOfWork,
    private readonly requests: RequestContext,
    private readonly environment: Environment,
  ) {}

  /**
   * Hashes a password for a PUT, before its transaction. Computes two hashes if the User has a password, one if not,
   * and none if a hash was sent.
   * @param userId the id of the User; undefined for a User that has no id yet
   * @throws ServiceError 'unprocessable' for an empty, too short, too long or malformed text; 'busy' when no slot
   * becomes free
   */
  async prepare(userId: string | undefined, text: string): Promise<NewPassword> {
    const expression = 'User.password';
    assertPassword(text, expression);
    const stored = userId === undefined ? undefined : await this.passwords.find(userId);
    if (claimsToBeHash(text)) {
      if (passwordFormatOf(text) === undefined)
        throw new ServiceError(
          'password-rejected',
          'User.password begins like a hash, but this server does not accept it. Send argon2id up to 64 MiB, or $s0$ of scrypt.',
          { expression },
        );
      return stored?.passwordHash === text ? { text, sameAs: stored.passwordId } : { text, hash: text };
    }
    if (stored === undefined) this.assertNew(text, expression);
    return this.inSlot(async () => {
      if (stored !== undefined && (await this.hashes.isRight(text, stored.passwordHash)))
        return { text, sameAs: stored.passwordId };
      // The minimum length is checked only for a changed password. The stored password may be older than the minimum
      // length, and sending it again must stay possible.
      this.assertNew(text, expression);
      return { text, hash: await this.hashes.hash(text) };
    });
  }

  /** @throws ServiceError 'unprocessable' for a text that cannot be a password, or is too short for a new one */
  assertNew(text: string, expression: string): void {
    assertPassword(text, expression);
    const { passwordMinLength: least } = this.environment;
    if (passwordLength(text) >= least) return;
    throw new ServiceError('password-rejected', `${expression} has at least ${least} characters.`, { expression });
  }

  /**
   * Stores the password in the open unit of work. @returns `first` if the User had no password before, `same` if the
   * password is unchanged, else `changed`
   */
  async store(userId: string, { text, hash, sameAs }: NewPassword): Promise<'same' | 'first' | 'changed'> {
    const stored = await this.passwords.find(userId);
    if (stored !== undefined && stored.passwordId === sameAs) return 'same';
    // The hash is absent here if another request replaced the stored password after `prepare` compared it.
    await this.passwords.set(userId, hash ?? (claimsToBeHash(text) ? text : await this.hashes.hash(text)));
    return stored === undefined ? 'first' : 'changed';
  }

  /** Takes no slot inside a transaction: the task that has the slot might wait for a lock of this transaction. */
  private inSlot<T>(task: () => Promise<T>): Promise<T> {
    return this.unitOfWork.isOpen ? task() : this.slots.run(this.requests.ticket, task);
  }
}

/** @throws ServiceError 'unprocessable' for a text that is empty or too long */
function assertPassword(text: string, expression: string): void {
  if (isPasswordLength(text)) return;
  throw new ServiceError('password-rejected', `${expression} has 1 to ${MAX_PASSWORD_BYTES} bytes.`, { expression });
}
