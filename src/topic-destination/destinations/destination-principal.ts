import { Injectable } from '@nestjs/common';
import { type DestinationRuntime, Destinations } from '../../delivery/destinations';
import { localKey } from '../../fhir/reference';
import { type NativeReference, type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { type Caller } from '../../platform/request/caller';
import { RequestContext } from '../../platform/request/request-context';
import { type EntryAccessRequest, POLICY_CREATION } from '../../resource/access/entry-access';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { notGranted, RowCheck } from '../../resource/rows/row-check';
import { RowLimits } from '../../resource/rows/row-limits';
import { presentationIn } from './destination-presentation';

/**
 * Decides about the principal of a destination: the User or Client whose rights select its events. It is the creator of
 * the destination, or the User that `principal` names.
 */
@Injectable()
export class DestinationPrincipal {
  constructor(
    private readonly access: EntryAccesses,
    private readonly destinations: Destinations,
    private readonly requests: RequestContext,
    private readonly granted: GrantedReader,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
  ) {}

  /**
   * Refuses a `principal` that the caller may not name. A caller may name its own User, and each User whose password it
   * may set, since it could log in as such a User anyway.
   * @throws ServiceError 'forbidden' for a User whose password the caller may not set
   */
  async assertNameable(named: NativeReference): Promise<void> {
    const { caller } = this.requests;
    if (caller !== undefined && !isSamePrincipal(named, principalOf(caller)))
      await this.access.assertGranted(takeoverOf(named));
  }

  /**
   * Returns the principal of a destination after a change by the caller (undefined: the server itself), and whether it
   * takes the place of another one over which the caller has no right.
   *
   * The principal of a destination that names none is the creator, until a caller without the right to update that
   * principal changes the destination. Then this caller becomes the principal. Otherwise the caller could receive data
   * that only the former principal may read. For the same reason, the new principal must not receive events that were
   * selected by the rights of the former one, neither from the queue nor by a replay.
   * @param named the principal that the destination names
   */
  async afterChange(
    id: string,
    named: NativeReference | undefined,
  ): Promise<{ readonly principal: NativeReference | undefined; readonly isTakenOver: boolean }> {
    const { caller } = this.requests;
    const stored = await this.destinations.find(id);
    const former = stored && principalIn(stored);
    // The server itself has no principal, and no policy limits it.
    if (caller === undefined) return { principal: named ?? former, isTakenOver: false };
    const next = named ?? principalOf(caller);
    if (stored === undefined) return { principal: next, isTakenOver: false };
    // The server selected the events that it stored itself (`SVC_INIT_BUNDLE`) without a limit.
    if (former === undefined) return { principal: next, isTakenOver: !(await this.isGranted(POLICY_CREATION)) };
    if (isSamePrincipal(former, next)) return { principal: next, isTakenOver: false };
    const mayUpdate = await this.isGranted(takeoverOf(former));
    return { principal: named ?? (mayUpdate ? former : next), isTakenOver: !mayUpdate };
  }

  /**
   * Calls that send something need the right to change the destination, within the row criteria of call and change.
   * @throws ServiceError 'not-found' as for a read; 'forbidden'
   */
  async assertMayChange(id: string): Promise<void> {
    const type = 'SvcTopicDestination';
    await this.granted.assertSeen(type, id);
    const limit = await this.limits.of(await this.access.grant(updateOf(type, id)));
    if (!(await this.rows.isGranted(limit, { type, id }))) throw notGranted();
  }

  /**
   * Checks that the caller may get events of the destination at an endpoint that the caller chooses. The caller must be
   * the principal, or be allowed to update it. No caller may do so for a destination that the server created.
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
    if (!isSamePrincipal(principal, principalOf(caller))) await this.access.assertGranted(takeoverOf(principal));
  }

  /** Unlike `assertGranted`, it records no denial: nothing is refused. */
  private async isGranted(request: EntryAccessRequest): Promise<boolean> {
    return (await this.access.decider.rowsOf(request)) === 'all';
  }
}

export const updateOf = (type: string, id: string, resource?: Resource): EntryAccessRequest => ({
  operationId: 'FhirUpdate',
  method: 'PUT',
  url: `${type}/${id}`,
  type,
  id,
  body: () => resource,
});

/**
 * The update by which a caller could log in as a User or Client: it sets the password or the secret. Policies must see
 * it, since one that lets a caller change other members only must not give that caller the rights of the User.
 */
function takeoverOf({ resourceType, id }: NativeReference): EntryAccessRequest {
  const secret = resourceType === 'User' ? 'password' : 'secret';
  return updateOf(resourceType, id, { resourceType, id, [secret]: 'chosen by the caller' });
}

const principalIn = ({ presentation }: DestinationRuntime): NativeReference | undefined =>
  presentationIn(presentation).principal;

export const principalOf = ({ userId, clientId }: Caller): NativeReference =>
  userId === undefined ? { resourceType: 'Client', id: clientId } : { resourceType: 'User', id: userId };

export const principalKeyOf = ({ resourceType, id }: NativeReference): string => localKey(resourceType, id);

const isSamePrincipal = (one: NativeReference, other: NativeReference): boolean =>
  principalKeyOf(one) === principalKeyOf(other);
