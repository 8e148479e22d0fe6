import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { KeptByRights } from '../../platform/database/kept-by-rights';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type Caller } from '../../platform/request/caller';
import { ResourceCriteria } from '../../search/run/resource-criteria';

export interface Role extends Resource {
  readonly name: string;
}

/** More than any person has; older Roles beyond this limit are ignored. */
const MAX_ROLES = 200;

/** Larger Roles of one User are not cached; each request reads them. */
const MAX_KEPT_CHARACTERS = 16_384;

interface StoredRole {
  readonly text: string;
  readonly role: Role;
}

/**
 * The Roles of callers, cached per registry epoch: a revoked Role is ignored by every request that begins afterwards.
 */
@Injectable()
export class Roles {
  private readonly known: KeptByRights<readonly StoredRole[]>;
  /** Roles per request, for when an open transaction bypasses the cache. */
  private readonly asked = new WeakMap<Caller, Promise<readonly Role[]>>();

  constructor(
    private readonly criteria: ResourceCriteria,
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
  ) {
    this.known = new KeptByRights(epoch, unitOfWork, (userId) => this.read(userId), isSmall);
  }

  of(caller: Caller): Promise<readonly Role[]> {
    const { userId } = caller;
    if (userId === undefined) return Promise.resolve([]);
    const asked = this.asked.get(caller) ?? this.known.get(userId).then((found) => found.map(({ role }) => role));
    this.asked.set(caller, asked);
    return asked;
  }

  /** The Roles of a User as stored text, which keeps the digits of numbers. */
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
