import { Injectable } from '@nestjs/common';
import { HashThreads } from './hash-threads';
import { ARGON2_PARAMETERS, DECOY, passwordFormatOf } from './password-format';
import { normalisedPassword } from './password-text';

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
