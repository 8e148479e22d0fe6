import { Injectable } from '@nestjs/common';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { type ResourceDraft } from '../../model/resource-draft';
import { DefinesResourceType } from '../../model/resource-type';
import { ForResourceType, type ResourceRule } from '../../resource/hooks/resource-rule';
import { Sessions } from '../../session/sessions';
import { keepSecret, takeSecret } from './secret-mask';
import { assertShapes, refused } from './shape';
import { USER_SHAPE } from './user.shape';
import { type NewPassword, NewPasswords } from '../user/new-passwords';
import { base32Bytes } from '../user/one-time-code';
import { TwoFactor } from '../user/two-factor';
import { type LoginNames, UserLogins } from '../user/user-logins.repository';

interface NewSecrets {
  readonly password: NewPassword | undefined;
  readonly twoFactorKey: string | undefined;
}

/** Checks a User, keeps its secrets out of the body, and ends its Sessions when the password changes. */
@Injectable()
@DefinesResourceType({
  type: 'User',
  isNative: true,
  shape: USER_SHAPE,
  searchParameters: [
    { code: 'userName', kind: 'token', expression: 'User.userName' },
    { code: 'email', kind: 'token', expression: 'User.email' },
    { code: 'inactive', kind: 'token', expression: 'User.inactive' },
  ],
})
@ForResourceType('User')
export class UserRule implements ResourceRule<NewSecrets> {
  constructor(
    private readonly passwords: NewPasswords,
    private readonly twoFactor: TwoFactor,
    private readonly logins: UserLogins,
    private readonly sessions: Sessions,
  ) {}

  async check(draft: ResourceDraft): Promise<NewSecrets> {
    assertShapes('User', draft.value, {
      password: 'string',
      userName: 'string',
      email: 'string',
      inactive: 'boolean',
      twoFactor: 'object',
    });
    assertSpelling(draft.value);
    for (const name of ['userName', 'email']) assertLogin(name, draft.value[name]);
    const twoFactorKey = takeTwoFactorKey(draft);
    const text = takeSecret(draft, 'password');
    return { twoFactorKey, password: text === undefined ? undefined : await this.passwords.prepare(draft.id, text) };
  }

  async store(draft: ResourceDraft, secrets: NewSecrets, previous: Resource | undefined): Promise<void> {
    const userId = draft.id ?? '';
    const { userName, email } = draft.value as LoginNames;
    await this.logins.set(userId, { userName, email }, previous as LoginNames | undefined);
    if (secrets.twoFactorKey === undefined) keepSecret(draft, 'twoFactor.secretKey', previous);
    else if (await this.twoFactor.setKey(userId, secrets.twoFactorKey)) draft.markHiddenChange();
    if (secrets.password === undefined) {
      keepSecret(draft, 'password', previous);
      return;
    }
    const outcome = await this.passwords.store(userId, secrets.password);
    if (outcome === 'same') return;
    draft.markHiddenChange();
    if (outcome === 'changed') await this.sessions.closeAllOf('User', userId);
  }
}

function takeTwoFactorKey(draft: ResourceDraft): string | undefined {
  const { twoFactor } = draft.value;
  if (twoFactor !== undefined) assertShapes('User.twoFactor', twoFactor, { secretKey: 'string' });
  const key = takeSecret(draft, 'twoFactor.secretKey');
  if (key === undefined || base32Bytes(key) !== undefined) return key;
  throw refused('User.twoFactor.secretKey', 'is base32 (RFC 4648) of 8 to 256 characters');
}

/**
 * Members that decide whether a User can sign in. A misspelt one is refused: unknown members are stored as sent, so a
 * misspelt `password` would be stored in clear text.
 */
const DECISIVE = ['password', 'inactive', 'userName'];
/**
 * Correct names (the decisive members, and SCIM members of RFC 7643) that resemble a decisive member, so they are no
 * misspellings.
 */
const OTHERS = new Set([...DECISIVE, 'active', 'name', 'displayName']);

function assertSpelling(user: Resource): void {
  for (const key of Object.keys(user)) {
    if (OTHERS.has(key)) continue;
    const meant = nearestCode(key, DECISIVE);
    if (meant === undefined) continue;
    const shown = key.slice(0, 64);
    const message = `"${shown}" is not an element of User.${didYouMean(meant)}`;
    throw new ServiceError('account-invalid', message, { expression: `User.${shown}` });
  }
}

/** A login name is an index key. RFC 5321 (section 4.5.3.1) gives email addresses the same limit. */
const MAX_LOGIN_BYTES = 254;

function assertLogin(name: string, login: unknown): void {
  if (typeof login !== 'string' || (login !== '' && Buffer.byteLength(login) <= MAX_LOGIN_BYTES)) return;
  throw refused(`User.${name}`, `has 1 to ${MAX_LOGIN_BYTES} bytes`);
}
