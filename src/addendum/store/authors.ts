import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';
import { type Caller } from '../../platform/request/caller';

/** The author of an addendum: the user that the call names, and beside it the caller. */
export interface Author {
  readonly user: NativeReference;
  readonly recorder: NativeReference;
}

@Injectable()
export class Authors {
  constructor(private readonly environment: Environment) {}

  /**
   * @param named whom the call names; the caller stands for nobody named
   * @throws ServiceError 'forbidden' for a User who names another one, where `SVC_ADDENDUM_AUTHOR` is `caller`.
   */
  of(named: NativeReference | undefined, { userId, clientId }: Caller): Author {
    const recorder =
      userId === undefined ? { resourceType: 'Client', id: clientId } : { resourceType: 'User', id: userId };
    const user = named ?? recorder;
    if (userId !== undefined && this.environment.addendumAuthor === 'caller' && user.id !== userId) {
      throw new ServiceError('forbidden', 'user must be the User who makes the call.');
    }
    return { user, recorder };
  }
}
