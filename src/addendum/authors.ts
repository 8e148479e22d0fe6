import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../fhir/types';
import { Environment } from '../platform/config/environment';
import { ServiceError } from '../platform/errors/service-error';
import { type Caller } from '../platform/http/caller';
import { type UserReference } from './references';

/** Who an addendum is by: the user whom the call names, and beside it who really made the call. */
export interface Author {
  readonly user: UserReference;
  readonly recorder: NativeReference;
}

@Injectable()
export class Authors {
  constructor(private readonly environment: Environment) {}

  /** @throws ServiceError 'forbidden' for a User who names another one, where `SVC_ADDENDUM_AUTHOR` is `caller`. */
  of(user: UserReference, { userId, clientId }: Caller): Author {
    if (userId === undefined) return { user, recorder: { resourceType: 'Client', id: clientId } };
    if (this.environment.addendumAuthor === 'caller' && user.id !== userId) {
      throw new ServiceError('forbidden', 'user must be the User who makes the call.');
    }
    return { user, recorder: { resourceType: 'User', id: userId } };
  }
}
