import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { SecretBox } from '../../platform/crypto/secret-box';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { Clock } from '../../platform/time/clock';
import { memberOf } from '../../platform/json/plain-object';
import { invalidGrant, OAuthError } from '../oauth/oauth-error';
import { stepOf } from './one-time-code';

/** Stores the key of a User. A new key resets `last_step`, since no code of the new key was accepted yet. */
const SET: Statement = {
  name: 'two-factor-set',
  text: `insert into user_two_factor (user_id, sealed_key) values ($1, $2)
    on conflict (user_id) do update set sealed_key = excluded.sealed_key, last_step = null`,
};
const FIND: Statement = { name: 'two-factor-find', text: 'select sealed_key from user_two_factor where user_id = $1' };
/**
 * Accepts the time step $2 if it is later than `last_step`, the step of the last accepted code. So each code is
 * accepted once (RFC 6238, section 5.2).
 */
const TAKE_STEP: Statement = {
  name: 'two-factor-take-step',
  text: `update user_two_factor set last_step = $2
    where user_id = $1 and (last_step is null or last_step < $2) returning user_id`,
};

/**
 * The second factor of Users with `twoFactor.enabled`: a one-time code (`totp`). Computing codes needs the key in clear
 * text, so keys are encrypted, not hashed.
 */
@Injectable()
export class TwoFactor {
  constructor(
    private readonly statements: Statements,
    private readonly box: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** @returns whether the key changed */
  async setKey(userId: string, key: string): Promise<boolean> {
    if ((await this.findKey(userId)) === key) return false;
    await this.statements.run(SET, [userId, this.box.seal(Buffer.from(key))]);
    return true;
  }

  /**
   * Checks the one-time code of a User. Called after the password was verified, in the unit of work that issues the
   * token, because a code is accepted only once.
   * @throws OAuthError invalid_grant
   */
  async assertPassed({ id: userId = '', twoFactor }: Resource, code: string | undefined): Promise<void> {
    if (memberOf(twoFactor, 'enabled') !== true) return;
    if (code === undefined)
      throw invalidGrant('one-time-code-missing', 'two-factor required', 'the one-time code is missing');
    const key = await this.findKey(userId);
    if (key === undefined) throw wrongCode('twoFactor.enabled without a secretKey');
    const step = stepOf(code, key, this.clock.now());
    if (step === undefined) throw wrongCode('wrong one-time code');
    const taken = await this.statements.runOne(TAKE_STEP, [userId, step]);
    if (taken === undefined) throw wrongCode('the one-time code was used before');
  }

  private async findKey(userId: string): Promise<string | undefined> {
    const row = await this.statements.runOne<{ sealed_key: Buffer }>(FIND, [userId]);
    return row === undefined ? undefined : this.box.open(row.sealed_key).toString();
  }
}

/** The same error for every rejected code, whatever the reason. */
const wrongCode = (detail: string): OAuthError =>
  OAuthError.wrongGuess('The one-time code is not valid', detail, 'one-time-code-wrong');
