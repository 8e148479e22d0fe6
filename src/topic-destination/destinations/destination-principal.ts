import { Injectable } from '@nestjs/common';
import { type DestinationRuntime, Destinations } from '../../delivery/destinations';
import { type NativeReference, type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { type Caller } from '../../platform/request/caller';
import { RequestContext } from '../../platform/request/request-context';
import { type EntryAccessRequest } from '../../resource/access/entry-access';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { presentationIn } from './destination-presentation';

/** The principal of a destination, whose rights select its events: its creator, or the User in `principal`. */
@Injectable()
export class DestinationPrincipal {
  constructor(
    private readonly access: EntryAccesses,
    private readonly destinations: Destinations,
    private readonly requests: RequestContext,
  ) {}

  /**
   * A caller who may update a User could log in as that User, and so may also name that User as principal.
   * @throws ServiceError 'forbidden' for a User that the caller may not update
   */
  async assertNameable(named: NativeReference): Promise<void> {
    const { caller } = this.requests;
    if (caller !== undefined && !isSamePrincipal(named, principalOf(caller))) await this.assertMayUpdate(named);
  }

  /**
   * The principal of a destination that names none: its creator. A caller who changes it without rights over that
   * principal becomes the principal; otherwise the caller could receive data that only the other may read.
   * @returns undefined for the server itself, which no policy limits
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

  /** Sending requires the right to change the destination. @throws ServiceError 'forbidden' */
  assertMayChange(id: string): Promise<void> {
    return this.assertMayUpdate({ resourceType: 'SvcTopicDestination', id });
  }

  /**
   * For events sent to the caller's endpoint, which needs rights over the principal. No caller has such rights over a
   * destination that the server created.
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

/** An update of a resource, as input for policies. */
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
