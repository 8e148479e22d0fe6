import { Injectable } from '@nestjs/common';
import { JsonText } from '../../platform/json/json-text';
import { withLeadingMembers, withoutMembers } from '../../platform/json/json-members';
import { ResourceCriteria } from '../../resource/search/resource-criteria';
import { ResourceTypes } from '../../resource/resource-types';
import { type TokenUser } from '../token/token-owners';

/** Roles that are shown at most: a User has a handful. */
const MAX_ROLES = 100;

/**
 * What a client is told of its User: the whole resource without secrets, `sub` as OpenID Connect names its id, and the
 * Roles that are linked to it.
 */
@Injectable()
export class Userinfo {
  constructor(
    private readonly types: ResourceTypes,
    private readonly criteria: ResourceCriteria,
  ) {}

  /** One JSON object; numbers have the digits that they were stored with. */
  async of({ id, text, value }: TokenUser): Promise<JsonText> {
    const { twoFactor } = value;
    const hasTwoFactor = typeof twoFactor === 'object' && twoFactor !== null;
    const roles = await this.rolesOf(id);
    const leading: [string, string][] = [
      ['resourceType', '"User"'],
      ['id', JSON.stringify(id)],
      ['sub', JSON.stringify(id)],
      ...(roles.length === 0 ? [] : [['role', `[${roles.join(',')}]`] satisfies [string, string]]),
      ...(hasTwoFactor ? [['twoFactor', twoFactorText(twoFactor)] satisfies [string, string]] : []),
    ];
    return new JsonText(withLeadingMembers(withoutMembers(text, ['password']), leading));
  }

  private async rolesOf(userId: string): Promise<readonly string[]> {
    if (this.types.find('Role') === undefined) return [];
    const roles = await this.criteria.find('Role', `user=User/${userId}`, MAX_ROLES);
    return roles.map(({ text }) => text);
  }
}

function twoFactorText(twoFactor: object): string {
  const { secretKey, ...shown } = twoFactor as { readonly secretKey?: unknown };
  return JSON.stringify(shown);
}
