import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { errorTrace } from '../../platform/logging/error-trace';
import { RequestContext } from '../../platform/request/request-context';
import { OAuthError } from '../oauth/oauth-error';
import { type Account, type GuessKeys, GuessKeyMaker } from './guess-keys';
import { COUNT_FAILURE, FORGET_TRIES, GIVE_BACK_TRY, TAKE_TRY } from './guess-statements';
import { SlowAddresses } from './slow-addresses';

export { type Account } from './guess-keys';

/** The longest pause between two tries for one account from one address. */
const LONGEST_PAUSE_SECONDS = 30;

interface Taken {
  readonly is_taken: boolean;
  /** Seconds until the account may be tried again; null if the account is not blocked. */
  readonly seconds: number | null;
  readonly slow_seconds: number | null;
}

/**
 * Throttles password guessing. PostgreSQL counts the tries for each pair of account and address. After a few free
 * tries, each further try must wait longer. Failures of an address alone are counted too: logins from an address with
 * many failures queue, but are not refused. No account is locked out (ADR 0024).
 * @example
 * await guesses.judge({ kind: 'user', name: 'nurse' }, ['0000'], () =>
 *   Promise.reject(OAuthError.wrongGuess('The PIN is wrong')),
 * );
 */
@Injectable()
export class CredentialGuard {
  private readonly logger = new Logger(CredentialGuard.name);

  /** The credentials that this process is judging now, by their hash. */
  private readonly trying = new Map<string, Promise<void>>();

  /** @internal */
  constructor(
    private readonly keys: GuessKeyMaker,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly requests: RequestContext,
    private readonly environment: Environment,
    private readonly slowAddresses: SlowAddresses,
  ) {}

  /**
   * Judges credentials, unless their account is paused. Concurrent requests with the same credentials count as one try:
   * a program that logs in many times at once is not guessing.
   * @param isWrong whether an error of `judge` means that the credentials are wrong; by default, this is
   * `OAuthError.wrongGuess`. After any other error, the try is not counted.
   * @throws ServiceError 'throttled' without judging, or the error of `judge`
   */
  judge<T>(
    account: Account,
    credentials: readonly string[],
    judge: () => Promise<T>,
    isWrong: (error: unknown) => boolean = isWrongGuess,
  ): Promise<T> {
    const keys = this.keys.keysOf(account, this.requests.origin?.ip);
    const sameTry = this.keys.hashOf('try', keys.account.toString('base64'), ...credentials).toString('base64');
    // Counts outside the caller's transaction: a rollback must not undo the count.
    return this.unitOfWork.outside(async () => {
      const known = this.trying.get(sameTry);
      if (known !== undefined) {
        await known;
        return judge();
      }
      const taking = this.take(keys);
      this.trying.set(sameTry, taking);
      try {
        await taking;
        return await this.settle(keys, judge, isWrong);
      } finally {
        this.trying.delete(sameTry);
      }
    });
  }

  private async settle<T>(
    { account, address }: GuessKeys,
    judge: () => Promise<T>,
    isWrong: (error: unknown) => boolean,
  ): Promise<T> {
    let judged: T;
    try {
      judged = await judge();
    } catch (error) {
      if (isWrong(error)) await this.countFailure(address);
      else await this.count(GIVE_BACK_TRY, [account, this.environment.credentialFailuresFree]);
      throw error;
    }
    // The login is committed, so it must not fail because its tries cannot be forgotten: they only expire later.
    await this.count(FORGET_TRIES, [account]).catch((error: unknown) => {
      this.logger.error('The tries before a login still count', errorTrace(error));
    });
    return judged;
  }

  private async take({ account, address }: GuessKeys): Promise<void> {
    const { credentialFailureWindowSeconds, credentialFailuresFree, credentialFailuresFreePerAddress } =
      this.environment;
    const taken = await this.count(TAKE_TRY, [
      credentialFailureWindowSeconds,
      ...[account, credentialFailuresFree, LONGEST_PAUSE_SECONDS],
      ...[address, credentialFailuresFreePerAddress],
    ]);
    this.slowAddresses.note(this.requests.origin?.ip, taken?.slow_seconds ?? null);
    if (taken?.is_taken !== true) throw throttled(taken?.seconds ?? 1);
  }

  private async countFailure(address: Buffer): Promise<void> {
    const { credentialFailureWindowSeconds, credentialFailuresFreePerAddress } = this.environment;
    const values = [credentialFailureWindowSeconds, address, credentialFailuresFreePerAddress];
    const counted = await this.count(COUNT_FAILURE, values);
    this.slowAddresses.note(this.requests.origin?.ip, counted?.slow_seconds ?? null);
  }

  /**
   * Runs the counting statement outside the request. Otherwise a client could prevent the count of its failures by
   * disconnecting.
   */
  private count(statement: Statement, values: readonly unknown[]): Promise<Taken | undefined> {
    return this.requests.outside(() => this.statements.runOne<Taken>(statement, values));
  }
}

const isWrongGuess = (error: unknown): boolean => error instanceof OAuthError && error.isWrongGuess;

/** The error is the same whether the account exists or not. */
const throttled = (retryAfterSeconds: number): ServiceError =>
  new ServiceError('throttled', 'Too many wrong credentials were tried. Wait before the next try.', {
    retryAfterSeconds,
  });
