import { Injectable } from '@nestjs/common';
import { KeptByRights } from '../../platform/database/kept-by-rights';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { type NativeReference } from '../../fhir/types';
import { Roles } from '../roles/roles';
import { AccessRequests } from './access-requests';
import { type LazyRequest } from './lazy-request';

/**
 * Request objects of the owners of webhook destinations (Users or Clients). Each write checks whether an owner may read
 * the written resource, so the owner's User, Client and Roles are cached in memory.
 */
@Injectable()
export class KnownReaders {
  private readonly known: KeptByRights<LazyRequest>;

  constructor(
    epoch: RegistryEpoch,
    private readonly asked: AccessRequests,
    private readonly roles: Roles,
  ) {
    this.known = new KeptByRights(
      epoch,
      (name) => this.load(name),
      () => true,
    );
  }

  /**
   * Returns the request object of a principal. It is cached until the rights epoch (a counter of changes of rights)
   * rises. If the open transaction changes rights, it is read again.
   */
  of({ resourceType, id }: NativeReference): Promise<LazyRequest> {
    return this.known.get(`${resourceType}/${id}`);
  }

  /**
   * Reads User, Client and Roles at once. If they were read on demand, that might happen inside another request's
   * transaction.
   */
  private async load(name: string): Promise<LazyRequest> {
    const [resourceType = '', id = ''] = name.split('/');
    const reader = this.asked.ofReader({ resourceType, id });
    await reader.read(['user', 'client']);
    await this.roles.of(reader.caller);
    return reader;
  }
}
