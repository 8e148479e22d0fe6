import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { type GrantedRows } from '../platform/http/granted-rows';
import { RequestContext } from '../platform/http/request-context';
import { DecidesEntryAccess, type EntryAccess, type EntryAccessRequest, type Reader } from '../resource/entry-access';
import { AccessDecision } from './access-decision';
import { Denials } from './denials/denials';
import { AccessRequests } from './request/access-requests';
import { couldCall } from './request/caller-parts';
import { KnownReaders } from './request/known-readers';

/** Entries of bundles are decided by the same policies as requests, each with a request object of its own. */
@Injectable()
@DecidesEntryAccess('access policies')
export class PolicyEntryAccess implements EntryAccess {
  constructor(
    private readonly access: AccessDecision,
    private readonly asked: AccessRequests,
    private readonly readers: KnownReaders,
    private readonly denials: Denials,
    private readonly requests: RequestContext,
  ) {}

  async grant(entry: EntryAccessRequest): Promise<GrantedRows> {
    const request = this.asked.ofEntry(entry);
    if (request === undefined) throw new ServiceError('forbidden', 'Nobody calls: there is nobody to grant this to.');
    const decision = await this.access.decide(request);
    if (decision.granted && (decision.rows === 'all' || entry.enforcesRows === true)) return decision.rows;
    this.requests.noteDenied(entry);
    throw await this.denials.refusalOf(request, decision);
  }

  async wouldGrant(entry: EntryAccessRequest): Promise<boolean> {
    const request = this.asked.ofEntry(entry);
    if (request === undefined) return false;
    const decision = await this.access.decide(request);
    return decision.granted && decision.rows === 'all';
  }

  async readerNamed(principal: NativeReference): Promise<Reader | undefined> {
    const reader = await this.readers.of(principal);
    if (!(await couldCall(reader))) return undefined;
    return {
      rowsOf: async (resource) => {
        const decision = await this.access.decide(this.asked.ofRead(reader, resource));
        return decision.granted ? decision.rows : undefined;
      },
    };
  }
}
