import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { type Caller } from '../../platform/request/caller';
import { ResourceCriteria } from '../../search/run/resource-criteria';

export interface Role extends Resource {
  readonly name: string;
}

/** More Roles than any person has; those beyond, the oldest, do not count. */
const MAX_ROLES = 200;

/** The Roles of callers, as stored when a request first needs them: one that is revoked counts for no later request. */
@Injectable()
export class Roles {
  private readonly known = new WeakMap<Caller, Promise<readonly Role[]>>();

  constructor(private readonly criteria: ResourceCriteria) {}

  of(caller: Caller): Promise<readonly Role[]> {
    const { userId } = caller;
    if (userId === undefined) return Promise.resolve([]);
    const known = this.known.get(caller) ?? this.read(userId);
    this.known.set(caller, known);
    return known;
  }

  /** The Roles of a User as they are stored, digits and all. */
  async textsOf(userId: string): Promise<readonly string[]> {
    const stored = await this.criteria.find('Role', `user=User/${encodeURIComponent(userId)}`, MAX_ROLES);
    return stored.map(({ text }) => text);
  }

  private async read(userId: string): Promise<readonly Role[]> {
    return (await this.textsOf(userId)).map((text) => JSON.parse(text) as Role);
  }
}
