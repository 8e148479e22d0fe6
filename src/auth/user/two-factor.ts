import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { Clock } from '../../platform/time/clock';
import { OAuthError, WRONG_CODE } from '../oauth/oauth-error';
import { stepOf } from './one-time-code';
import { TwoFactorKeys } from './two-factor-keys.repository';

/** The second factor of Users that have one: `twoFactor.enabled`, and a one-time code (`totp`) with the password. */
@Injectable()
export class TwoFactor {
  constructor(
    private readonly keys: TwoFactorKeys,
    private readonly clock: Clock,
  ) {}

  /**
   * Asked once the password is right, in the unit of work that issues the token: a code is accepted once.
   * @throws OAuthError invalid_grant
   */
  async assertPassed({ id: userId = '', twoFactor }: Resource, code: string | undefined): Promise<void> {
    if (!isEnabled(twoFactor)) return;
    if (code === undefined)
      throw new OAuthError('invalid_grant', 'two-factor required', 'the one-time code is missing');
    const key = await this.keys.find(userId);
    if (key === undefined) throw refused('twoFactor.enabled without a secretKey');
    const step = stepOf(code, key, this.clock.now());
    if (step === undefined) throw refused('wrong one-time code');
    if (!(await this.keys.takeStep(userId, step))) throw refused('the one-time code was used before');
  }
}

const isEnabled = (twoFactor: unknown): boolean =>
  typeof twoFactor === 'object' && twoFactor !== null && 'enabled' in twoFactor && twoFactor.enabled === true;

const refused = (detail: string): OAuthError => new OAuthError('invalid_grant', WRONG_CODE, detail);
