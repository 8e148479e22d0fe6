import { Injectable } from '@nestjs/common';
import { HashThreads } from './hash-threads';
import { ARGON2_PARAMETERS, DECOY, passwordFormatOf } from './password-format';

/** Hashes and checks passwords; each call is exactly one hash, in a bounded number of threads. */
@Injectable()
export class PasswordHash {
  constructor(private readonly threads: HashThreads) {}

  async hash(password: string): Promise<string> {
    const task = { kind: 'hash', password: normalisedPassword(password), parameters: ARGON2_PARAMETERS } as const;
    return String(await this.threads.run(task));
  }

  /** Does the same work for a password without a hash (unknown user), so that both take the same time. */
  async isRight(password: string, stored: string | undefined): Promise<boolean> {
    const format = passwordFormatOf(stored ?? DECOY);
    if (format === undefined) throw new Error('A stored password hash cannot be read');
    const isEqual = (await this.threads.run({ ...format, password: normalisedPassword(password) })) === true;
    return isEqual && stored !== undefined;
  }
}

/**
 * Longer inputs only cost time: they are refused before they are hashed. NIST SP 800-63B asks for at least 64
 * characters, which are at most 256 bytes.
 */
export const MAX_PASSWORD_BYTES = 1024;

/** Whether a text can be a stored password: at login, and for the current one of a change. */
export const isPasswordLength = (text: string): boolean => text !== '' && Buffer.byteLength(text) <= MAX_PASSWORD_BYTES;

/**
 * A password as it is hashed: keyboards differ in how they write one and the same text. The OpaqueString profile of
 * RFC 8265 (section 4.2.2): spaces of any width are one, then NFC. Not NFKC, which takes ² for 2.
 */
export const normalisedPassword = (text: string): string => text.replace(/\p{Zs}/gu, ' ').normalize('NFC');

/** In code points, as NIST SP 800-63B counts. */
export const passwordLength = (text: string): number => [...normalisedPassword(text)].length;
