import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { HashSlots } from '../hashing/hash-slots';
import { claimsToBeHash, passwordFormatOf } from '../hashing/password-format';
import { isPasswordLength, MAX_PASSWORD_BYTES, PasswordHash, passwordLength } from '../hashing/password-hash';
import { UserPasswords } from './user-passwords.repository';

/** A new password of a User, hashed as far as possible before the transaction. */
export interface NewPassword {
  readonly text: string;
  /** Its hash; absent when the User already has this password. */
  readonly hash?: string;
  /** Id of the stored password, when it is the same one. */
  readonly sameAs?: string;
}

/** Sets passwords of Users: plain texts are hashed, hashes of compatible servers are stored unchanged. */
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
   * @param userId undefined for a User that has no id yet
   * @throws ServiceError 'unprocessable' for an empty, too short, too long or malformed text; 'busy' like the slots
   */
  async prepare(userId: string | undefined, text: string): Promise<NewPassword> {
    const expression = 'User.password';
    assertPassword(text, expression);
    const stored = userId === undefined ? undefined : await this.passwords.find(userId);
    if (claimsToBeHash(text)) {
      if (passwordFormatOf(text) === undefined) throw malformedHash();
      return stored?.passwordHash === text ? { text, sameAs: stored.passwordId } : { text, hash: text };
    }
    if (stored === undefined) this.assertNew(text, expression);
    return this.inSlot(async () => {
      if (stored !== undefined && (await this.hashes.isRight(text, stored.passwordHash)))
        return { text, sameAs: stored.passwordId };
      // Checked only here: the stored password may predate the minimum length, and sending it again is no change.
      this.assertNew(text, expression);
      return { text, hash: await this.hashes.hash(text) };
    });
  }

  /** @throws ServiceError 'unprocessable' for a text that is no password, or too short for a new one */
  assertNew(text: string, expression: string): void {
    assertPassword(text, expression);
    const { passwordMinLength: least } = this.environment;
    if (passwordLength(text) >= least) return;
    throw new ServiceError('unprocessable', `${expression} has at least ${least} characters.`, {
      code: 'password-rejected',
      expression,
    });
  }

  /**
   * Stores it in the open unit of work. @returns whether the User had a password before, and whether it was the same
   */
  async store(userId: string, { text, hash, sameAs }: NewPassword): Promise<'same' | 'first' | 'changed'> {
    const stored = await this.passwords.find(userId);
    if (stored !== undefined && stored.passwordId === sameAs) return 'same';
    // Another request replaced the password that we compared with.
    await this.passwords.set(userId, hash ?? (claimsToBeHash(text) ? text : await this.hashes.hash(text)));
    return stored === undefined ? 'first' : 'changed';
  }

  /** An open transaction takes no slot: the task that has the slot might wait for one of its locks. */
  private inSlot<T>(task: () => Promise<T>): Promise<T> {
    const { caller: key, signal } = this.requests.ticket;
    return this.unitOfWork.isOpen ? task() : this.slots.run({ key, signal }, task);
  }
}

/** @throws ServiceError 'unprocessable' */
function assertPassword(text: string, expression: string): void {
  if (isPasswordLength(text)) return;
  throw new ServiceError('unprocessable', `${expression} has 1 to ${MAX_PASSWORD_BYTES} bytes.`, {
    code: 'password-rejected',
    expression,
  });
}

const malformedHash = (): ServiceError =>
  new ServiceError(
    'unprocessable',
    'User.password begins like a hash, but this server does not accept it. Send argon2id up to 64 MiB, or $s0$ of scrypt.',
    { code: 'password-rejected', expression: 'User.password' },
  );
