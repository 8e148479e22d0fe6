import { Injectable } from '@nestjs/common';
import { Roles } from '../../access/roles/roles';
import { JsonText } from '../../platform/json/json-text';
import { withLeadingMembers, withoutMembers } from '../../platform/json/json-members';
import { type TokenUser } from './token-owners';

/**
 * The userinfo of a client's User: the whole resource without secrets, `sub` as OpenID Connect names its id, and the
 * Roles that are linked to it.
 */
@Injectable()
export class Userinfo {
  constructor(private readonly roles: Roles) {}

  /** One JSON object; numbers have the digits that they were stored with. */
  async of({ id, text, value }: TokenUser): Promise<JsonText> {
    const { twoFactor } = value;
    const hasTwoFactor = typeof twoFactor === 'object' && twoFactor !== null;
    const roles = await this.roles.textsOf(id);
    const leading: [string, string][] = [
      ['resourceType', '"User"'],
      ['id', JSON.stringify(id)],
      ['sub', JSON.stringify(id)],
      ...(roles.length === 0 ? [] : [['role', `[${roles.join(',')}]`] satisfies [string, string]]),
      ...(hasTwoFactor ? [['twoFactor', twoFactorText(twoFactor)] satisfies [string, string]] : []),
    ];
    return new JsonText(withLeadingMembers(withoutMembers(text, ['password']), leading));
  }
}

function twoFactorText(twoFactor: object): string {
  const { secretKey, ...shown } = twoFactor as { readonly secretKey?: unknown };
  return JSON.stringify(shown);
}
