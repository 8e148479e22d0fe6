import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { type Caller } from '../platform/http/caller';
import { RequestContext } from '../platform/http/request-context';
import { EntryAccesses } from '../resource/access/entry-access.registry';

/** Whose rights decide what a destination hears of: who made it, or a User that it names (`principal`). */
@Injectable()
export class DestinationPrincipal {
  constructor(
    private readonly access: EntryAccesses,
    private readonly requests: RequestContext,
  ) {}

  /**
   * A caller who may update a User could log in as that User, and so may name that User as the principal of a destination.
   * @throws ServiceError 'forbidden' for a User that the caller has no such rights over
   */
  async assertNameable(named: NativeReference): Promise<void> {
    const { caller } = this.requests;
    if (caller !== undefined && !isSame(named, principalOf(caller))) await this.assertMayUpdate(named);
  }

  /**
   * That of a destination that names none: who made it. Who changes it without rights over that one becomes it, so that
   * nobody can have sent to himself what another may read.
   * @param former undefined where the server itself made it; absent with a new destination
   * @returns undefined for the server itself, whom no policy limits
   */
  async inherited(former?: { readonly principal: NativeReference | undefined }): Promise<NativeReference | undefined> {
    const { caller } = this.requests;
    if (caller === undefined) return former?.principal;
    const own = principalOf(caller);
    if (former?.principal === undefined || isSame(former.principal, own)) return own;
    try {
      await this.assertMayUpdate(former.principal);
      return former.principal;
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'forbidden') return own;
      throw error;
    }
  }

  /**
   * For what only somebody may do who may have the events of `principal` sent to himself.
   * @param principal undefined where the server made the destination: nobody's rights are as large
   * @throws ServiceError 'forbidden'
   */
  async assertHasRightsOf(principal: NativeReference | undefined): Promise<void> {
    const { caller } = this.requests;
    if (caller === undefined) return;
    if (principal === undefined) {
      throw new ServiceError(
        'forbidden',
        'The server made this destination, with more rights than a caller has. Name a principal in it.',
      );
    }
    if (!isSame(principal, principalOf(caller))) await this.assertMayUpdate(principal);
  }

  /** @throws ServiceError 'forbidden' to callers who may not update the resource */
  assertMayUpdate({ resourceType, id }: NativeReference): Promise<void> {
    return this.access.assertGranted({
      operationId: 'FhirUpdate',
      method: 'PUT',
      url: `${resourceType}/${id}`,
      type: resourceType,
      id,
      resource: () => undefined,
    });
  }
}

/** Whose rights a caller has. */
export const principalOf = ({ userId, clientId }: Caller): NativeReference =>
  userId === undefined ? { resourceType: 'Client', id: clientId } : { resourceType: 'User', id: userId };

const isSame = (one: NativeReference, other: NativeReference): boolean =>
  one.resourceType === other.resourceType && one.id === other.id;
