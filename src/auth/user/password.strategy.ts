import { Injectable } from '@nestjs/common';
import { type Request, type Response } from 'express';
import passport from 'passport';
import { Strategy } from 'passport-local';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { HashSlots } from '../hashing/hash-slots';
import { isCurrentFormat } from '../hashing/password-format';
import { isPasswordLength, PasswordHash } from '../hashing/password-hash';
import { wrongCredentials } from '../oauth/oauth-error';
import { type LoginOwner } from './user-logins.repository';
import { type UserPasswordEntity } from './user-password.entity';
import { UserPasswords } from './user-passwords.repository';

/** The stored password that the login matched. It may change before the token is issued. */
type VerifiedPassword = Readonly<UserPasswordEntity>;

/**
 * Checks passwords with passport-local. One code path computes exactly one hash, whether the login name exists or not.
 */
@Injectable()
export class PasswordStrategy {
  private readonly passport = new passport.Passport();

  constructor(
    private readonly passwords: UserPasswords,
    private readonly hashes: PasswordHash,
    private readonly slots: HashSlots,
    private readonly epoch: RegistryEpoch,
  ) {}

  /**
   * @param owner the User that the login name resolves to
   * @throws OAuthError invalid_grant
   */
  authenticate(username: string, password: string, owner: LoginOwner | undefined): Promise<VerifiedPassword> {
    return new Promise((resolve, reject) => {
      const strategy = new Strategy((_username, text, done) => {
        this.verify(owner, text).then((verified) => {
          done(null, verified);
        }, done);
      });
      const settle = (error: Error | null, verified?: VerifiedPassword | false | null): void => {
        if (error === null && verified) resolve(verified);
        else reject(error ?? wrongCredentials());
      };
      const check = this.passport.authenticate(strategy, { session: false }, settle) as PassportMiddleware;
      // passport-local reads only `body` of a request, so no other member is set.
      check({ body: { username, password } } as Request, {} as Response, reject);
    });
  }

  /**
   * Returns whether the password that the login matched is still the stored one. It is called while the User is locked.
   * The password is not read again at the first try of the unit of work. Each change of a User raises the rights epoch,
   * a counter. If it has risen, the statement that opens the Session fails, and the unit of work restarts. Only then is
   * the password read again.
   */
  async isCurrent({ userId, passwordId }: VerifiedPassword): Promise<boolean> {
    return !this.epoch.isReadAnew || (await this.passwords.find(userId))?.passwordId === passwordId;
  }

  /** Replaces an imported or outdated hash by a hash in the current format. */
  async renewHash({ userId, passwordId, passwordHash }: VerifiedPassword, password: string): Promise<void> {
    if (isCurrentFormat(passwordHash)) return;
    const hash = await this.slots.run({ caller: `User/${userId}` }, () => this.hashes.hash(password));
    await this.passwords.replaceHash(userId, passwordId, hash);
  }

  private async verify(owner: LoginOwner | undefined, password: string): Promise<VerifiedPassword> {
    if (!isPasswordLength(password)) throw wrongCredentials('password too long');
    const isRight = await this.hashes.isRight(password, owner?.passwordHash ?? undefined);
    if (owner === undefined) throw wrongCredentials('unknown user');
    const { userId, passwordId, passwordHash } = owner;
    if (passwordId === null || passwordHash === null) throw wrongCredentials('the user has no password');
    if (!isRight) throw wrongCredentials('wrong password');
    return { userId, passwordId, passwordHash };
  }
}

type PassportMiddleware = (request: Request, response: Response, next: (error: Error) => void) => void;
