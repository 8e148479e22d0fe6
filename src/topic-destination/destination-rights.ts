import { Injectable } from '@nestjs/common';
import { Destinations } from '../delivery/destinations';
import { ServiceError } from '../platform/errors/service-error';
import { type DestinationPresentation } from './destination-presentation';
import { DestinationPrincipal } from './destination-principal';

/** The rights that a caller needs to make a destination send. */
@Injectable()
export class DestinationRights {
  constructor(
    private readonly destinations: Destinations,
    private readonly principals: DestinationPrincipal,
  ) {}

  /** Sending is no less than changing it. @throws ServiceError 'forbidden' */
  assertMayChange(id: string): Promise<void> {
    return this.principals.assertMayUpdate({ resourceType: 'SvcTopicDestination', id });
  }

  /** For events that go to an endpoint of the caller: he must be allowed to read them. @throws ServiceError 'not-found', 'forbidden' */
  async assertMayHear(id: string): Promise<void> {
    const presentation = await this.destinations.findPresentation(id);
    if (presentation === undefined) {
      throw new ServiceError('not-found', `Resource SvcTopicDestination/${id} not found`);
    }
    const { principal } = JSON.parse(presentation) as DestinationPresentation;
    await this.principals.assertHasRightsOf(principal);
  }
}
