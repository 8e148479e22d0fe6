import { Injectable } from '@nestjs/common';
import { ServiceError } from '../platform/errors/service-error';
import { type GrantedRows } from '../platform/http/granted-rows';
import { RequestContext } from '../platform/http/request-context';
import { DecidesEntryAccess, type EntryAccess, type EntryAccessRequest } from '../resource/entry-access';
import { AccessDecision } from './access-decision';
import { AccessRequests } from './request/access-requests';

/** Entries of bundles are decided by the same policies as requests, each with a request object of its own. */
@Injectable()
@DecidesEntryAccess('access policies')
export class PolicyEntryAccess implements EntryAccess {
  constructor(
    private readonly access: AccessDecision,
    private readonly asked: AccessRequests,
    private readonly requests: RequestContext,
  ) {}

  async grant(entry: EntryAccessRequest): Promise<GrantedRows> {
    const request = this.asked.ofEntry(entry);
    const decision = request === undefined ? undefined : await this.access.decide(request);
    if (decision?.granted === true) return decision.rows;
    this.requests.noteDenied(entry);
    throw new ServiceError('forbidden', 'No AccessPolicy grants this request.');
  }
}
