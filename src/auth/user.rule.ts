import { Injectable } from '@nestjs/common';
import { nearestCode } from '../fhir/nearest-code';
import { type Resource } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { type ResourceDraft } from '../resource/resource-draft';
import { ForResourceType, type ResourceRule } from '../resource/resource-rule';
import { Sessions } from '../session/sessions';
import { MAX_PASSWORD_BYTES, PasswordHash } from './password-hash';
import { keepSecret, takeSecret } from './secret-mask';
import { assertShapes } from './shape';
import { UserLogins } from './user-logins.repository';
import { UserPasswords } from './user-passwords.repository';

interface NewPassword {
  readonly text: string;
  readonly hash: string;
}

/** Checks a User, keeps its password out of the body, and ends its Sessions when the password changes. */
@Injectable()
@ForResourceType('User')
export class UserRule implements ResourceRule<NewPassword | undefined> {
  constructor(
    private readonly passwords: UserPasswords,
    private readonly logins: UserLogins,
    private readonly hashes: PasswordHash,
    private readonly sessions: Sessions,
  ) {}

  async check(draft: ResourceDraft): Promise<NewPassword | undefined> {
    assertShapes('User', draft.value, { password: 'string', userName: 'string', email: 'string', inactive: 'boolean' });
    assertSpelling(draft.value);
    for (const name of ['userName', 'email']) assertLogin(name, draft.value[name]);
    const text = takeSecret(draft, 'password');
    if (text === undefined) return undefined;
    if (text === '' || Buffer.byteLength(text) > MAX_PASSWORD_BYTES) {
      throw new ServiceError('unprocessable', `User.password has 1 to ${MAX_PASSWORD_BYTES} bytes.`, {
        expression: 'User.password',
      });
    }
    return { text, hash: await this.hashes.hash(text) };
  }

  async store(draft: ResourceDraft, password: NewPassword | undefined, previous: Resource | undefined): Promise<void> {
    const userId = draft.id ?? '';
    const { userName, email } = draft.value as { userName?: string; email?: string };
    await this.logins.set(userId, { userName, email });
    if (password === undefined) {
      keepSecret(draft, 'password', previous);
      return;
    }
    const stored = await this.passwords.find(userId);
    if (stored !== undefined && (await this.hashes.isRight(password.text, stored))) return;
    await this.passwords.set(userId, password.hash);
    draft.markHiddenChange();
    if (stored !== undefined) await this.sessions.closeAllOf({ userId });
  }
}

/** What decides whether a User can sign in; other members are the caller's own, but a misspelt password would be stored readable. */
const DECISIVE = ['password', 'inactive', 'userName'];
/** Members of SCIM (RFC 7643) that look like those, and are none of them. */
const OTHERS = new Set([...DECISIVE, 'active', 'name', 'displayName']);

function assertSpelling(user: Resource): void {
  for (const key of Object.keys(user)) {
    const meant = OTHERS.has(key)
      ? undefined
      : nearestCode(
          key.toLowerCase(),
          DECISIVE.map((name) => name.toLowerCase()),
        );
    const name = DECISIVE.find((one) => one.toLowerCase() === meant);
    if (name !== undefined)
      throw new ServiceError(
        'unprocessable',
        `"${key.slice(0, 64)}" is not an element of User. Did you mean "${name}"?`,
        {
          expression: `User.${key.slice(0, 64)}`,
        },
      );
  }
}

/** A login is a key of an index, and RFC 5321 (section 4.5.3.1) ends an email address there too. */
const MAX_LOGIN_BYTES = 254;

function assertLogin(name: string, login: unknown): void {
  if (typeof login !== 'string' || (login !== '' && Buffer.byteLength(login) <= MAX_LOGIN_BYTES)) return;
  throw new ServiceError('unprocessable', `User.${name} has 1 to ${MAX_LOGIN_BYTES} bytes.`, {
    expression: `User.${name}`,
  });
}
