import { Injectable } from '@nestjs/common';
import { type OwnShapes } from '../../fhir/definitions/element-tables';
import { type Resource } from '../../fhir/types';
import { DefinesResourceType } from '../../model/resource-type';
import { KeptOn } from '../../platform/kept-on';
import { KeptByRights, RegistryEpoch } from '../../platform/database/registry-epoch';
import { type Caller } from '../../platform/request/caller';
import { ResourceCriteria } from '../../search/run/resource-criteria';

/**
 * Members of a Role, which gives a User a role in a context. A policy with this name in `roleName` covers that User.
 * Several Roles may have the same name.
 */
const ROLE_SHAPE: OwnShapes = {
  Role: {
    name: '1..1 string',
    user: '1..1 NativeReference(User)',
    links: '0..1 Role.links',
    context: '0..1 Any',
    description: '0..1 string',
  },
  'Role.links': {
    patient: '0..1 NativeReference(Patient)',
    practitioner: '0..1 NativeReference(Practitioner)',
    practitionerRole: '0..1 NativeReference(PractitionerRole)',
    organization: '0..1 NativeReference(Organization)',
    person: '0..1 NativeReference(Person)',
    relatedPerson: '0..1 NativeReference(RelatedPerson)',
  },
};

export interface Role extends Resource {
  readonly name: string;
}

/** Maximum number of Roles of a User that are read, more than any person has. Older Roles beyond it are ignored. */
const MAX_ROLES = 200;

/** The Roles of a User are cached if all their texts together are not longer than this. */
const MAX_KEPT_CHARACTERS = 16_384;

interface StoredRole {
  readonly text: string;
  readonly role: Role;
}

/**
 * Reads the Roles of callers. They are cached until the rights epoch (a counter of changes of rights) rises. So a
 * deleted Role does not count for any request that begins afterwards.
 */
@Injectable()
@DefinesResourceType({
  type: 'Role',
  isNative: true,
  shape: ROLE_SHAPE,
  searchParameters: [
    { code: 'name', kind: 'token', expression: 'Role.name' },
    { code: 'user', kind: 'reference', expression: 'Role.user', targets: ['User'] },
  ],
})
export class Roles {
  private readonly known: KeptByRights<readonly StoredRole[]>;
  /**
   * Roles by the caller object, which the entries of a Bundle share. So Roles that are too many for the cache are read
   * once: with 150 Roles, a transaction of 200 entries would take 2.9 s instead of 0.3 s.
   */
  private readonly asked = new KeptOn<Caller, Promise<readonly Role[]>>();

  constructor(
    private readonly criteria: ResourceCriteria,
    epoch: RegistryEpoch,
  ) {
    this.known = new KeptByRights(epoch, (userId) => this.read(userId), isSmall);
  }

  of(caller: Caller): Promise<readonly Role[]> {
    const { userId } = caller;
    if (userId === undefined) return Promise.resolve([]);
    const asked = this.asked.get(caller) ?? this.known.get(userId).then((found) => found.map(({ role }) => role));
    this.asked.set(caller, asked);
    return asked;
  }

  /** The Roles of a User as stored texts, which keep the digits of numbers. */
  async textsOf(userId: string): Promise<readonly string[]> {
    return (await this.known.get(userId)).map(({ text }) => text);
  }

  private async read(userId: string): Promise<readonly StoredRole[]> {
    const stored = await this.criteria.find('Role', `user=User/${encodeURIComponent(userId)}`, MAX_ROLES);
    return stored.map(({ text }) => ({ text, role: JSON.parse(text) as Role }));
  }
}

const isSmall = (roles: readonly StoredRole[]): boolean =>
  roles.reduce((sum, { text }) => sum + text.length, 0) <= MAX_KEPT_CHARACTERS;
