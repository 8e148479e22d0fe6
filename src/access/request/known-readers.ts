import { Injectable } from '@nestjs/common';
import { KeptByRights } from '../../platform/database/kept-by-rights';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type NativeReference } from '../../fhir/types';
import { Roles } from '../roles/roles';
import { AccessRequests } from './access-requests';
import { type LazyRequest } from './lazy-request';

/** Those who do not call now, and whose rights are asked about with each write: their User, Client and Roles in memory. */
@Injectable()
export class KnownReaders {
  private readonly known: KeptByRights<LazyRequest>;

  constructor(
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
    private readonly asked: AccessRequests,
    private readonly roles: Roles,
  ) {
    this.known = new KeptByRights(
      epoch,
      unitOfWork,
      (name) => this.load(name),
      () => true,
    );
  }

  /** With User, Client and Roles as of the epoch of rights of the request, or as the open transaction has changed them. */
  of({ resourceType, id }: NativeReference): Promise<LazyRequest> {
    return this.known.get(`${resourceType}/${id}`);
  }

  /** All at once: what is read later might be read in somebody else's transaction. */
  private async load(name: string): Promise<LazyRequest> {
    const [resourceType = '', id = ''] = name.split('/');
    const reader = this.asked.ofReader({ resourceType, id });
    await reader.read(['user', 'client']);
    await this.roles.of(reader.caller);
    return reader;
  }
}
