import { Injectable } from '@nestjs/common';
import { HashThreads } from './hash-threads';
import { ARGON2_PARAMETERS, DECOY, passwordFormatOf } from './password-format';

/** Hashes and checks passwords. Each call computes exactly one hash, in one of a limited number of threads. */
@Injectable()
export class PasswordHash {
  constructor(private readonly threads: HashThreads) {}

  async hash(password: string): Promise<string> {
    const task = { kind: 'hash', password: normalisedPassword(password), parameters: ARGON2_PARAMETERS } as const;
    return String(await this.threads.run(task));
  }

  /**
   * Returns whether the password matches the stored hash. If no hash is stored (unknown user), an equally costly one is
   * checked, so that timing does not reveal which users exist.
   */
  async isRight(password: string, stored: string | undefined): Promise<boolean> {
    const format = passwordFormatOf(stored ?? DECOY);
    if (format === undefined) throw new Error('A stored password hash cannot be read');
    const isEqual = (await this.threads.run({ ...format, password: normalisedPassword(password) })) === true;
    return isEqual && stored !== undefined;
  }
}

/**
 * The longest accepted password. Longer ones are refused before hashing, since they only cost time. NIST SP 800-63B
 * requires that a server accepts 64 characters, which take at most 256 bytes.
 */
export const MAX_PASSWORD_BYTES = 1024;

export const isPasswordLength = (text: string): boolean => text !== '' && Buffer.byteLength(text) <= MAX_PASSWORD_BYTES;

/**
 * Normalizes a password before hashing, since keyboards encode the same text differently. It follows the OpaqueString
 * profile of RFC 8265 (section 4.2.2): each Unicode space becomes a plain space, then NFC is applied. NFKC is not used,
 * since it maps ² to 2.
 */
export const normalisedPassword = (text: string): string => text.replace(/\p{Zs}/gu, ' ').normalize('NFC');

/** The length of a password in code points, as NIST SP 800-63B counts it. */
export const passwordLength = (text: string): number => [...normalisedPassword(text)].length;
