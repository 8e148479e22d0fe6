import { Injectable } from '@nestjs/common';
import { type Request, type Response } from 'express';
import passport from 'passport';
import { Strategy } from 'passport-local';
import { RequestContext } from '../../platform/http/request-context';
import { isCurrentFormat } from '../hashing/password-format';
import { PasswordHash } from '../hashing/password-hash';
import { isPasswordLength } from '../hashing/password-text';
import { OAuthError, WRONG_CREDENTIALS } from '../token/oauth-error';
import { UserLogins } from './user-logins.repository';
import { type StoredPassword, UserPasswords } from './user-passwords.repository';

/** Whose password was right, and which one: it may change before the token is issued. */
export interface VerifiedPassword extends StoredPassword {
  readonly userId: string;
}

/**
 * Checks username and password by passport-local. One code path with exactly one hash, whoever is asked for.
 */
@Injectable()
export class PasswordStrategy {
  private readonly passport = new passport.Passport();

  constructor(
    private readonly logins: UserLogins,
    private readonly passwords: UserPasswords,
    private readonly hashes: PasswordHash,
    private readonly requests: RequestContext,
  ) {
    this.passport.use(
      new Strategy({ session: false }, (username, password, done) => {
        this.verify(username, password).then(
          (verified) => {
            done(null, verified);
          },
          (error: unknown) => {
            done(error);
          },
        );
      }),
    );
  }

  /** @throws OAuthError invalid_grant */
  authenticate(username: string, password: string): Promise<VerifiedPassword> {
    return new Promise((resolve, reject) => {
      const settle = (error: unknown, user?: Express.User | false | null): void => {
        if (error !== null && error !== undefined)
          reject(error instanceof Error ? error : new Error('The password check failed'));
        else if (user === undefined || user === null || user === false)
          reject(new OAuthError('invalid_grant', WRONG_CREDENTIALS));
        else resolve(user as VerifiedPassword);
      };
      const check = this.passport.authenticate('local', { session: false }, settle) as PassportMiddleware;
      // passport reads the credentials from `body` and nothing else of a request.
      check({ body: { username, password } } as Request, {} as Response, reject);
    });
  }

  /** Whether the password that was right is still the User's. */
  async isCurrent({ userId, passwordId }: VerifiedPassword): Promise<boolean> {
    return (await this.passwords.find(userId))?.passwordId === passwordId;
  }

  /** Stores a hash of this server's own kind in place of one that came from elsewhere, or from before. */
  async renewHash({ userId, passwordId, passwordHash }: VerifiedPassword, password: string): Promise<void> {
    if (isCurrentFormat(passwordHash)) return;
    await this.passwords.replaceHash(userId, passwordId, await this.hashes.hash(password));
  }

  /** @throws OAuthError invalid_grant */
  private async verify(login: string, password: string): Promise<VerifiedPassword> {
    if (!isPasswordLength(password)) throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'password too long');
    const owner = await this.logins.find(login);
    if (owner !== undefined) this.requests.claim({ userId: owner.userId });
    const isRight = await this.hashes.isRight(password, owner?.password?.passwordHash);
    if (owner === undefined) throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'unknown user');
    const { userId, password: stored } = owner;
    if (stored === undefined) throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'the user has no password');
    if (!isRight) throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'wrong password');
    return { userId, ...stored };
  }
}

type PassportMiddleware = (request: Request, response: Response, next: (error: Error) => void) => void;
