import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/errors/service-error';
import { claimsToBeHash, passwordFormatOf } from '../hashing/password-format';
import { PasswordHash } from '../hashing/password-hash';
import { isPasswordLength, MAX_PASSWORD_BYTES } from '../hashing/password-text';
import { UserPasswords } from './user-passwords.repository';

/** A password that a User is to have, with all hashing done that can be done before the transaction. */
export interface NewPassword {
  readonly text: string;
  /** Its hash; absent when it is the password that the User has. */
  readonly hash?: string;
  /** The stored password that it turned out to be. */
  readonly sameAs?: string;
}

/** Sets passwords of Users: plain texts are hashed, hashes of other servers of this kind are taken as they are. */
@Injectable()
export class NewPasswords {
  constructor(
    private readonly passwords: UserPasswords,
    private readonly hashes: PasswordHash,
  ) {}

  /**
   * Hashes, outside of any transaction: twice for a User who has a password, once for one without, not at all for a
   * hash that was sent.
   * @param userId undefined for a User that is only about to get an id
   * @throws ServiceError 'unprocessable' for nothing, too much, and a malformed hash.
   */
  async prepare(userId: string | undefined, text: string): Promise<NewPassword> {
    assertPassword(text, 'User.password');
    const stored = userId === undefined ? undefined : await this.passwords.find(userId);
    if (claimsToBeHash(text)) {
      if (passwordFormatOf(text) === undefined) throw malformedHash();
      return stored?.passwordHash === text ? { text, sameAs: stored.passwordId } : { text, hash: text };
    }
    if (stored !== undefined && (await this.hashes.isRight(text, stored.passwordHash)))
      return { text, sameAs: stored.passwordId };
    return { text, hash: await this.hashes.hash(text) };
  }

  /** Stores it in the open unit of work, and tells whether the User had another one before. */
  async store(userId: string, { text, hash, sameAs }: NewPassword): Promise<'same' | 'first' | 'changed'> {
    const stored = await this.passwords.find(userId);
    if (stored !== undefined && stored.passwordId === sameAs) return 'same';
    // The password that it was the same as has been changed in the meantime.
    await this.passwords.set(userId, hash ?? (claimsToBeHash(text) ? text : await this.hashes.hash(text)));
    return stored === undefined ? 'first' : 'changed';
  }
}

/** @throws ServiceError 'unprocessable' */
export function assertPassword(text: string, expression: string): void {
  if (isPasswordLength(text)) return;
  throw new ServiceError('unprocessable', `${expression} has 1 to ${MAX_PASSWORD_BYTES} bytes.`, { expression });
}

const malformedHash = (): ServiceError =>
  new ServiceError(
    'unprocessable',
    'User.password begins like a hash, and is none that this server takes: argon2id up to 64 MiB, or $s0$ of scrypt.',
    { expression: 'User.password' },
  );
