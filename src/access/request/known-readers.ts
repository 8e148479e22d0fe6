import { Injectable } from '@nestjs/common';
import { KeptByRights, RegistryEpoch } from '../../platform/database/registry-epoch';
import { type NativeReference } from '../../fhir/types';
import { type Caller } from '../../platform/request/caller';
import { Roles } from '../roles/roles';
import { CallerParts } from './caller-parts';
import { LazyRequest } from './lazy-request';
import { routeParams } from './route-params';
import { type ResourceName } from '../../model/stored-resource';

const READ = 'FhirRead';

/**
 * Request objects of reads for the owners of webhook destinations (Users or Clients). Each write checks whether an
 * owner may read the written resource, so the owner's User, Client and Roles are cached in memory. An owner is not
 * calling now: it has no address and no token, so policies that require those do not grant. Its `session` has the Roles
 * alone, since criteria take the ward or the patient of a Role from there.
 */
@Injectable()
export class KnownReaders {
  private readonly known: KeptByRights<LazyRequest>;

  constructor(
    epoch: RegistryEpoch,
    private readonly callers: CallerParts,
    private readonly roles: Roles,
  ) {
    this.known = new KeptByRights(epoch, (name) => this.load(name));
  }

  of({ resourceType, id }: NativeReference): Promise<LazyRequest> {
    return this.known.get(`${resourceType}/${id}`);
  }

  /**
   * Reads User, Client and Roles at once. If they were read on demand, that might happen inside another request's
   * transaction.
   */
  private async load(name: string): Promise<LazyRequest> {
    const [resourceType, id = ''] = name.split('/');
    const caller: Caller = resourceType === 'User' ? { userId: id, clientId: '' } : { clientId: id };
    const reader = new LazyRequest(
      { caller, operationId: READ },
      {
        ...this.callers.of(caller, undefined),
        ...(caller.userId === undefined ? {} : { session: async () => ({ role: await this.roles.of(caller) }) }),
        'request-method': () => 'get',
        operation: () => ({ id: READ }),
      },
    );
    await reader.read(['user', 'client', 'session']);
    return reader;
  }
}

/** The request object of a read with the rights of `reader`. */
export const readBy = (reader: LazyRequest, { type, id }: ResourceName): LazyRequest =>
  reader.seenAs(reader, { uri: () => `/fhir/${type}/${id}`, params: () => routeParams({ type, id }) });
