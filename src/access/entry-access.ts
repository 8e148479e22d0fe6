import { Injectable } from '@nestjs/common';
import { ServiceError } from '../platform/errors/service-error';
import { RequestContext } from '../platform/http/request-context';
import { DecidesEntryAccess, type EntryAccess, type EntryAccessRequest } from '../resource/entry-access';
import { AccessDecision } from './access-decision';

/** Entries of bundles are decided by the same policies as requests. */
@Injectable()
@DecidesEntryAccess('access policies')
export class PolicyEntryAccess implements EntryAccess {
  constructor(
    private readonly access: AccessDecision,
    private readonly requests: RequestContext,
  ) {}

  async assertGranted({ operationId }: EntryAccessRequest): Promise<void> {
    const { caller } = this.requests;
    if (caller !== undefined && (await this.access.isGranted({ caller, operationId }))) return;
    throw new ServiceError('forbidden', 'No AccessPolicy grants this request.');
  }
}
