import { Injectable } from '@nestjs/common';
import { type DestinationRuntime, Destinations } from '../../delivery/destinations';
import { type NativeReference, type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { type Caller } from '../../platform/request/caller';
import { RequestContext } from '../../platform/request/request-context';
import { type EntryAccessRequest } from '../../resource/access/entry-access';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { presentationIn } from './destination-presentation';

/** The principal of a destination, whose rights select its events: its maker, or a User that it names (`principal`). */
@Injectable()
export class DestinationPrincipal {
  constructor(
    private readonly access: EntryAccesses,
    private readonly destinations: Destinations,
    private readonly requests: RequestContext,
  ) {}

  /**
   * A caller who may update a User could log in as that User, and so may name that User as the principal of a destination.
   * @throws ServiceError 'forbidden' for a User that the caller has no such rights over
   */
  async assertNameable(named: NativeReference): Promise<void> {
    const { caller } = this.requests;
    if (caller !== undefined && !isSamePrincipal(named, principalOf(caller))) await this.assertMayUpdate(named);
  }

  /**
   * The principal of a destination that names none: its maker. A caller who changes it without rights over that one becomes its
   * principal; otherwise he could receive what only another may read.
   * @returns undefined for the server itself, whom no policy limits
   */
  async inheritedBy(id: string): Promise<NativeReference | undefined> {
    const { caller } = this.requests;
    const stored = await this.destinations.find(id);
    const former = stored && principalIn(stored);
    if (caller === undefined) return former;
    const own = principalOf(caller);
    if (former === undefined || isSamePrincipal(former, own)) return own;
    try {
      await this.assertMayUpdate(former);
      return former;
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'forbidden') return own;
      throw error;
    }
  }

  /** Sending is no less than changing it. @throws ServiceError 'forbidden' */
  assertMayChange(id: string): Promise<void> {
    return this.assertMayUpdate({ resourceType: 'SvcTopicDestination', id });
  }

  /**
   * For events that go to an endpoint of the caller, who needs rights over the principal. Where the server made the destination,
   * no caller has such rights.
   * @throws ServiceError 'not-found', 'forbidden'
   */
  async assertMayHear(id: string): Promise<void> {
    const principal = principalIn(await this.destinations.read(id));
    const { caller } = this.requests;
    if (caller === undefined) return;
    if (principal === undefined) {
      throw new ServiceError(
        'forbidden',
        'The server made this destination, with more rights than a caller has. Name a principal in it.',
      );
    }
    if (!isSamePrincipal(principal, principalOf(caller))) await this.assertMayUpdate(principal);
  }

  private assertMayUpdate({ resourceType, id }: NativeReference): Promise<void> {
    return this.access.assertGranted(updateOf(resourceType, id));
  }
}

/** An update of a resource, for policies to decide. */
export const updateOf = (type: string, id: string, resource?: Resource): EntryAccessRequest => ({
  operationId: 'FhirUpdate',
  method: 'PUT',
  url: `${type}/${id}`,
  type,
  id,
  resource: () => resource,
});

const principalIn = ({ presentation }: DestinationRuntime): NativeReference | undefined =>
  presentationIn(presentation).principal;

/** The principal of a caller. */
export const principalOf = ({ userId, clientId }: Caller): NativeReference =>
  userId === undefined ? { resourceType: 'Client', id: clientId } : { resourceType: 'User', id: userId };

const isSamePrincipal = (one: NativeReference, other: NativeReference): boolean =>
  one.resourceType === other.resourceType && one.id === other.id;
