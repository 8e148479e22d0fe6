import { Injectable } from '@nestjs/common';
import { Roles } from '../../access/roles/roles';
import { type Resource } from '../../fhir/types';
import { KeptByRights } from '../../platform/database/kept-by-rights';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { withLeadingMembers, withoutMembers } from '../../platform/json/json-members';
import { JsonText } from '../../platform/json/json-text';
import { ResourceReader } from '../../store/resource-reader';

/** Longer ones are read for each token. */
const MAX_KEPT_CHARACTERS = 16_384;

/** The User that a token is issued to. */
export interface TokenUser {
  readonly id: string;
  /** The stored resource, whose secrets are masked; numbers are doubles. */
  readonly value: Resource;
  /**
   * One JSON object: the resource without secrets, `sub` as OpenID Connect names its id, and the Roles that are linked to it.
   * Numbers have the digits that they were stored with.
   */
  readonly userinfo: JsonText;
}

/** Users with what a token response says of them, in memory by the epoch of rights. */
@Injectable()
export class TokenUsers {
  private readonly known: KeptByRights<TokenUser | undefined>;

  constructor(
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
    private readonly reader: ResourceReader,
    private readonly roles: Roles,
  ) {
    this.known = new KeptByRights(epoch, unitOfWork, (id) => this.read(id), isSmall);
  }

  find(id: string): Promise<TokenUser | undefined> {
    return this.known.get(id);
  }

  private async read(id: string): Promise<TokenUser | undefined> {
    const stored = await this.reader.find('User', id);
    if (stored === undefined) return undefined;
    const value = JSON.parse(stored.text) as Resource;
    return { id, value, userinfo: userinfoOf(stored.text, value, await this.roles.textsOf(id)) };
  }
}

function userinfoOf(text: string, { id, twoFactor }: Resource, roles: readonly string[]): JsonText {
  const hasTwoFactor = typeof twoFactor === 'object' && twoFactor !== null;
  const leading: [string, string][] = [
    ['resourceType', '"User"'],
    ['id', JSON.stringify(id)],
    ['sub', JSON.stringify(id)],
    ...(roles.length === 0 ? [] : [['role', `[${roles.join(',')}]`] satisfies [string, string]]),
    ...(hasTwoFactor ? [['twoFactor', twoFactorText(twoFactor)] satisfies [string, string]] : []),
  ];
  return new JsonText(withLeadingMembers(withoutMembers(text, ['password']), leading));
}

function twoFactorText(twoFactor: object): string {
  const { secretKey, ...shown } = twoFactor as { readonly secretKey?: unknown };
  return JSON.stringify(shown);
}

const isSmall = (user: TokenUser | undefined): boolean =>
  user !== undefined && user.userinfo.text.length <= MAX_KEPT_CHARACTERS;
