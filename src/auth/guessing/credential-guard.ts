import { Injectable } from '@nestjs/common';
import { KeyedSemaphore } from '../../platform/concurrency/keyed-semaphore';
import { Environment } from '../../platform/config/environment';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/http/request-context';
import { tooManyLogins } from '../hashing/too-many-logins';
import { type AccountKind, type GuessKeys, GuessKeyMaker } from './guess-keys';
import { FORGET_TRIES, GIVE_BACK_TRY, TAKE_TRIES } from './guess-statements';

/** The longest pause between two tries for one account from one address. */
const ACCOUNT_PAUSE_SECONDS = 30;
/** Of one process; so that three replicas together stay below what is free. */
const ACCOUNT_TRIES_AT_ONCE = 3;
const ADDRESS_TRIES_AT_ONCE = 16;
/** Others may sit behind the same address: it is slowed down to a try a second, and no more. */
const ADDRESS_PAUSE_SECONDS = 1;

interface Taken {
  readonly account: boolean;
  readonly address: boolean;
  /** Until both are free again; null unless one is blocked. */
  readonly seconds: number | null;
}

/**
 * Slows guessing down. Tries are counted in PostgreSQL, for account and address together, and for the address alone; beyond
 * the free ones each waits longer. Nobody is ever locked out, and another account or address is not concerned (ADR 0024).
 */
@Injectable()
export class CredentialGuard {
  /** Right credentials that many calls bring at once are not taken for many tries. */
  private readonly accounts: KeyedSemaphore;
  private readonly addresses: KeyedSemaphore;

  constructor(
    private readonly keys: GuessKeyMaker,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly requests: RequestContext,
    private readonly environment: Environment,
  ) {
    this.accounts = new KeyedSemaphore(ACCOUNT_TRIES_AT_ONCE, environment.passwordHashQueue, tooManyLogins);
    this.addresses = new KeyedSemaphore(ADDRESS_TRIES_AT_ONCE, environment.passwordHashQueue, tooManyLogins);
  }

  /**
   * Judges credentials, if it is their turn.
   * @param isWrong whether what `judge` threw says that they are wrong; anything else says nothing about them
   * @throws ServiceError 'throttled' without having judged, or what `judge` throws
   */
  judge<T>(kind: AccountKind, name: string, judge: () => Promise<T>, isWrong: (error: unknown) => boolean): Promise<T> {
    // A count must stay when the work around it is rolled back.
    const keys = this.keys.keysOf(kind, name, this.requests.origin?.ip);
    return this.unitOfWork.outside(() =>
      this.accounts.run(keys.account.toString('base64'), () =>
        this.addresses.run(keys.address.toString('base64'), () => this.judgeInTurn(keys, judge, isWrong)),
      ),
    );
  }

  private async judgeInTurn<T>(
    keys: GuessKeys,
    judge: () => Promise<T>,
    isWrong: (error: unknown) => boolean,
  ): Promise<T> {
    await this.take(keys);
    try {
      const judged = await judge();
      await this.forget(keys);
      return judged;
    } catch (error) {
      if (!isWrong(error)) await this.giveBack(keys);
      throw error;
    }
  }

  private async take({ account, address }: GuessKeys): Promise<void> {
    const { credentialFailureWindowSeconds, credentialFailuresFree, credentialFailuresFreePerAddress } =
      this.environment;
    const taken = await this.statements.runOne<Taken>(TAKE_TRIES, [
      credentialFailureWindowSeconds,
      ...[account, credentialFailuresFree, ACCOUNT_PAUSE_SECONDS],
      ...[address, credentialFailuresFreePerAddress, ADDRESS_PAUSE_SECONDS],
    ]);
    if (taken?.address === true) return;
    if (taken?.account === true) await this.statements.run(GIVE_BACK_TRY, [account, credentialFailuresFree]);
    throw throttled(taken?.seconds ?? 1);
  }

  private async forget({ account, address }: GuessKeys): Promise<void> {
    await this.statements.run(FORGET_TRIES, [account, address, this.environment.credentialFailuresFreePerAddress]);
  }

  private async giveBack({ account, address }: GuessKeys): Promise<void> {
    const { credentialFailuresFree, credentialFailuresFreePerAddress } = this.environment;
    await this.statements.run(GIVE_BACK_TRY, [account, credentialFailuresFree]);
    await this.statements.run(GIVE_BACK_TRY, [address, credentialFailuresFreePerAddress]);
  }
}

/** One text for every account, known or not. */
const throttled = (retryAfterSeconds: number): ServiceError =>
  new ServiceError('throttled', 'Too many wrong credentials were tried. Wait before the next try.', {
    retryAfterSeconds,
  });
