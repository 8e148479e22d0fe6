import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { addressPrefixOf } from '../../platform/admission/address-prefix';
import { Ambient } from '../../platform/ambient';
import { Environment } from '../../platform/config/environment';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { errorTrace } from '../../platform/logging/error-trace';
import { putNewest } from '../../platform/memoized';
import { RequestContext } from '../../platform/request/request-context';
import { OAuthError } from '../oauth/oauth-error';
import { SlowAddresses } from './slow-addresses';

/**
 * Counts a try of an account ($2) as failed before it is judged, so concurrent tries cannot exceed the free tries. From
 * failure number $3 on, the account is blocked: for 1 s at first, then twice as long after each failure, up to $4
 * seconds. The row expires $1 seconds after the last counted try. For a blocked account the statement writes nothing,
 * so a flood of refused tries causes no writes. The row of the address ($5) is only read: if it has more than $6
 * failures, its remaining seconds are returned.
 */
const TAKE_TRY: Statement = {
  name: 'guess-take-try',
  text: `with blocked as materialized (
      select ceil(extract(epoch from max(blocked_until) - clock_timestamp()))::integer as seconds
      from credential_failure where key = $2 and blocked_until > clock_timestamp()
    ), taken as (
      insert into credential_failure as f (key, failures, expires_at, blocked_until)
      select $2::bytea, 1, clock_timestamp() + make_interval(secs => $1),
        case when $3::integer <= 1 then clock_timestamp() + interval '1 second' else '-infinity' end
        where (select seconds from blocked) is null
      on conflict (key) do update set
        failures = case when f.expires_at <= clock_timestamp() then 1 else f.failures + 1 end,
        expires_at = clock_timestamp() + make_interval(secs => $1),
        blocked_until = case when f.expires_at <= clock_timestamp() or f.failures + 1 < $3 then '-infinity'
          else clock_timestamp() + make_interval(secs => least($4::integer, 2 ^ least(f.failures + 1 - $3, 16))) end
      where f.blocked_until <= clock_timestamp()
      returning 1
    ) select exists (select from taken) as is_taken, seconds,
      (select extract(epoch from expires_at - clock_timestamp())::float8 from credential_failure
        where key = $5 and failures > $6::integer and expires_at > clock_timestamp()) as slow_seconds
    from blocked`,
};

/**
 * Undoes {@link TAKE_TRY}, for a try that ended without a verdict. The account is unblocked if fewer than $2 failures
 * remain.
 */
const GIVE_BACK_TRY: Statement = {
  name: 'guess-give-back',
  text: `update credential_failure set failures = greatest(failures - 1, 0),
      blocked_until = case when failures - 1 < $2::integer then '-infinity' else blocked_until end
    where key = $1`,
};

/** Deletes the count of an account ($1), after a try with the right credentials. */
const FORGET_TRIES: Statement = {
  name: 'guess-forget',
  text: 'delete from credential_failure where key = $1',
};

/**
 * Counts a failure of an address ($2). The row expires $1 seconds after the last failure. An address with more than $3
 * failures is slow until then, but never blocked.
 */
const COUNT_FAILURE: Statement = {
  name: 'guess-count-failure',
  text: `insert into credential_failure as f (key, failures, expires_at, blocked_until)
    values ($2, 1, clock_timestamp() + make_interval(secs => $1), '-infinity')
    on conflict (key) do update set
      failures = case when f.expires_at <= clock_timestamp() then 1 else f.failures + 1 end,
      expires_at = clock_timestamp() + make_interval(secs => $1)
    returning case when failures > $3::integer then $1::float8 end as slow_seconds`,
};

/**
 * The account whose credentials are judged. `user`: the id of a User, whichever of its login names was typed. `login`:
 * a typed name that no User has.
 */
export interface Account {
  readonly kind: 'user' | 'login' | 'client';
  readonly name: string;
}

/** A try of credentials: its address prefix, and the keys of the counters of the account there and of the address. */
interface Try {
  readonly prefix: string;
  readonly account: Buffer;
  readonly address: Buffer;
}

/** The longest pause between two tries for one account from one address. */
const LONGEST_PAUSE_SECONDS = 30;

const MOST_PROVEN = 10_000;

const WRONG_SECRET = new Error('The secret is wrong');

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
  private readonly secret: Buffer;

  /** The credentials that this process is judging now, by their hash. */
  private readonly trying = new Map<string, Promise<void>>();

  /** Correct secrets of Clients, by a hash of id, address prefix and secret. */
  private readonly proven = new Map<string, true>();

  /** @internal */
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly requests: RequestContext,
    private readonly environment: Environment,
    private readonly slowAddresses: SlowAddresses,
  ) {
    const { encryptionKey } = environment;
    if (encryptionKey === undefined) throw new Error('SVC_ENCRYPTION_KEY is not set');
    this.secret = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'credential-failure', 32));
  }

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
    const one = this.tryOf(account);
    const sameTry = this.hashOf('try', one.account.toString('base64'), ...credentials).toString('base64');
    // Counts outside the caller's transaction: a rollback must not undo the count.
    return this.unitOfWork.outside(async () => {
      const known = this.trying.get(sameTry);
      if (known !== undefined) {
        await known;
        return judge();
      }
      const taking = this.take(one);
      this.trying.set(sameTry, taking);
      try {
        await taking;
        return await this.settle(one, judge, isWrong);
      } finally {
        this.trying.delete(sameTry);
      }
    });
  }

  /**
   * Counts a compared secret of a Client as a try. A secret that was correct before from the same address is not
   * counted again. So a Client that calls by HTTP Basic causes no writes, and people who guess its secret cannot slow
   * it down. From another address the secret counts as a try; otherwise guesses would be free.
   * @param isEqual whether one of the secrets is the stored one
   * @throws ServiceError 'throttled'
   * @internal
   */
  async countSecret(clientId: string, secrets: readonly string[], isEqual: boolean): Promise<void> {
    const use = this.hashOf('proven', clientId, this.prefix, ...secrets).toString('base64');
    if (isEqual && this.proven.has(use)) return;
    const judge = (): Promise<void> => (isEqual ? Promise.resolve() : Promise.reject(WRONG_SECRET));
    try {
      await this.judge({ kind: 'client', name: clientId }, secrets, judge, (error) => error === WRONG_SECRET);
    } catch (error) {
      if (error === WRONG_SECRET) return;
      throw error;
    }
    putNewest(this.proven, use, true, MOST_PROVEN);
  }

  private async settle<T>(one: Try, judge: () => Promise<T>, isWrong: (error: unknown) => boolean): Promise<T> {
    let judged: T;
    try {
      judged = await judge();
    } catch (error) {
      if (isWrong(error)) await this.countFailure(one);
      else await this.count(GIVE_BACK_TRY, [one.account, this.environment.credentialFailuresFree]);
      throw error;
    }
    // The login is committed, so it must not fail when the count of its tries cannot be deleted: the count only expires
    // later.
    await this.count(FORGET_TRIES, [one.account]).catch((error: unknown) => {
      this.logger.error('The tries before a login still count', errorTrace(error));
    });
    return judged;
  }

  private async take({ prefix, account, address }: Try): Promise<void> {
    const { credentialFailureWindowSeconds, credentialFailuresFree, credentialFailuresFreePerAddress } =
      this.environment;
    const taken = await this.count(TAKE_TRY, [
      credentialFailureWindowSeconds,
      ...[account, credentialFailuresFree, LONGEST_PAUSE_SECONDS],
      ...[address, credentialFailuresFreePerAddress],
    ]);
    this.slowAddresses.note(prefix, taken?.slow_seconds ?? null);
    if (taken?.is_taken !== true) throw throttled(taken?.seconds ?? 1);
  }

  private async countFailure({ prefix, address }: Try): Promise<void> {
    const { credentialFailureWindowSeconds, credentialFailuresFreePerAddress } = this.environment;
    const values = [credentialFailureWindowSeconds, address, credentialFailuresFreePerAddress];
    const counted = await this.count(COUNT_FAILURE, values);
    this.slowAddresses.note(prefix, counted?.slow_seconds ?? null);
  }

  /** Counts outside the request: a client must not prevent the count of its failure by disconnecting. */
  private count(statement: Statement, values: readonly unknown[]): Promise<Taken | undefined> {
    return Ambient.outside(() => this.statements.runOne<Taken>(statement, values));
  }

  /** The keys are HMACs, so the table reveals neither names nor addresses. */
  private tryOf({ kind, name }: Account): Try {
    const prefix = this.prefix;
    // A typed name is counted without its case, since emails match in any case.
    const counted = kind === 'login' ? name.normalize('NFKC').toLowerCase() : name;
    return {
      prefix,
      account: this.hashOf('account', kind, counted, prefix),
      address: this.hashOf('address', prefix),
    };
  }

  /** The address prefix of the caller; an empty text in background work. */
  private get prefix(): string {
    return addressPrefixOf(this.requests.origin?.ip ?? '');
  }

  private hashOf(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.secret).update(JSON.stringify(parts)).digest();
  }
}

const isWrongGuess = (error: unknown): boolean => error instanceof OAuthError && error.isWrongGuess;

/** The error is the same whether the account exists or not. */
const throttled = (retryAfterSeconds: number): ServiceError =>
  new ServiceError('throttled', 'Too many wrong credentials were tried. Wait before the next try.', {
    retryAfterSeconds,
  });
