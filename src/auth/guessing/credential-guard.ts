import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { type Account, type GuessKeys, GuessKeyMaker } from './guess-keys';
import { COUNT_FAILURE, FORGET_TRIES, GIVE_BACK_TRY, TAKE_TRY } from './guess-statements';
import { SlowAddresses } from './slow-addresses';

/** The longest pause between two tries for one account from one address. */
const LONGEST_PAUSE_SECONDS = 30;

/** The row of {@link TAKE_TRY}; the one of {@link COUNT_FAILURE} has the last member alone. */
interface Taken {
  readonly is_taken: boolean;
  /** Until the account is free again; null unless it is blocked. */
  readonly seconds: number | null;
  readonly slow_seconds: number | null;
}

/**
 * Slows guessing down. Tries are counted in PostgreSQL for account and address together; beyond the free ones each waits longer. Failures of
 * an address are counted too: they refuse nothing, but the logins of an address with many queue. Nobody is ever locked out (ADR 0024).
 */
@Injectable()
export class CredentialGuard {
  /** Credentials that this process judges now. */
  private readonly trying = new Map<string, Promise<void>>();

  constructor(
    private readonly keys: GuessKeyMaker,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly requests: RequestContext,
    private readonly environment: Environment,
    private readonly slowAddresses: SlowAddresses,
  ) {}

  /**
   * Judges credentials, unless their account has to pause. The same credentials at the same time are one try: a program that logs in
   * many times at once is no guesser.
   * @param isWrong whether what `judge` threw says that they are wrong; anything else says nothing about them
   * @throws ServiceError 'throttled' without having judged, or what `judge` throws
   */
  judge<T>(
    account: Account,
    credentials: readonly string[],
    judge: () => Promise<T>,
    isWrong: (error: unknown) => boolean,
  ): Promise<T> {
    const keys = this.keys.keysOf(account, this.requests.origin?.ip);
    const sameTry = this.keys.hashOf('try', keys.account.toString('base64'), ...credentials).toString('base64');
    // A count must stay when the transaction around it is rolled back.
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
    try {
      const judged = await judge();
      await this.count(FORGET_TRIES, [account]);
      return judged;
    } catch (error) {
      if (isWrong(error)) await this.countFailure(address);
      else await this.count(GIVE_BACK_TRY, [account, this.environment.credentialFailuresFree]);
      throw error;
    }
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

  /** Outside of the request, or a client that disconnects would keep its failures from being counted. */
  private count(statement: Statement, values: readonly unknown[]): Promise<Taken | undefined> {
    return this.requests.outside(() => this.statements.runOne<Taken>(statement, values));
  }
}

/** One text for every account, known or not. */
const throttled = (retryAfterSeconds: number): ServiceError =>
  new ServiceError('throttled', 'Too many wrong credentials were tried. Wait before the next try.', {
    retryAfterSeconds,
  });
