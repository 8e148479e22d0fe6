import { Injectable } from '@nestjs/common';
import { type Request, type Response } from 'express';
import passport from 'passport';
import { Strategy } from 'passport-local';
import { RequestContext } from '../platform/http/request-context';
import { OAuthError, WRONG_CREDENTIALS } from './oauth-error';
import { MAX_PASSWORD_BYTES, PasswordHash } from './password-hash';
import { UserLogins } from './user-logins.repository';
import { UserPasswords } from './user-passwords.repository';

/** Whose password was right, and the hash that it was right for: it may change before the token is issued. */
export interface VerifiedPassword {
  readonly userId: string;
  readonly passwordHash: string;
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

  hashOf(userId: string): Promise<string | undefined> {
    return this.passwords.find(userId);
  }

  private async verify(login: string, password: string): Promise<VerifiedPassword> {
    if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
      throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'password too long');
    const userId = await this.logins.find(login);
    if (userId !== undefined) this.requests.claim({ userId });
    const passwordHash = userId === undefined ? undefined : await this.passwords.find(userId);
    const isRight = await this.hashes.isRight(password, passwordHash);
    if (userId === undefined || passwordHash === undefined)
      throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'unknown user');
    if (!isRight) throw new OAuthError('invalid_grant', WRONG_CREDENTIALS, 'wrong password');
    return { userId, passwordHash };
  }
}

type PassportMiddleware = (request: Request, response: Response, next: (error: Error) => void) => void;
