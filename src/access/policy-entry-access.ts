import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../fhir/types';
import { KeptOn } from '../platform/kept-on';
import { ServiceError } from '../platform/errors/service-error';
import { type GrantedRows } from '../platform/request/granted-rows';
import { RequestContext } from '../platform/request/request-context';
import {
  DecidesEntryAccess,
  type EntryAccess,
  type EntryAccessRequest,
  POLICY_CREATION,
  type Reader,
} from '../resource/access/entry-access';
import { AccessDecision, type Decision } from './decision/access-decision';
import { mayUse } from './criteria/criteria-template';
import { AccessPolicies } from './policy/access-policies';
import { type CompiledPolicy } from './policy/compiled-policy';
import { Denials } from './denials/denials';
import { AccessRequests } from './request/access-requests';
import { couldCall } from './request/caller-parts';
import { KnownReaders, readBy } from './request/known-readers';
import { type LazyRequest } from './request/lazy-request';

/**
 * Decides parts of a request (Bundle entries, RPC calls, searches that the request causes) by the same policies as
 * whole requests. Each part has a separate request object.
 */
@Injectable()
@DecidesEntryAccess('access policies')
export class PolicyEntryAccess implements EntryAccess {
  /**
   * Decisions on searches by type, for each request object, and freed with that object. The request object of a caller
   * lives for one request. That of the owner of a webhook destination is cached until rights change.
   */
  private readonly searches = new KeptOn<LazyRequest, Map<string, Decision>>();

  constructor(
    private readonly access: AccessDecision,
    private readonly asked: AccessRequests,
    private readonly readers: KnownReaders,
    private readonly denials: Denials,
    private readonly policies: AccessPolicies,
    private readonly requests: RequestContext,
  ) {}

  async grant(entry: EntryAccessRequest): Promise<GrantedRows> {
    const request = this.asked.ofEntry(entry);
    if (request === undefined) throw nobodyCalls();
    const decision = await this.access.decide(request);
    const { rows } = decision;
    if (rows === 'all' || (rows !== undefined && entry.enforcesRows === true)) return rows;
    this.requests.noteDenied(entry);
    throw await this.denials.refusalOf(request, decision);
  }

  async rowsOf(entry: EntryAccessRequest): Promise<GrantedRows | undefined> {
    const request = this.asked.ofEntry(entry);
    return request === undefined ? undefined : (await this.access.decide(request)).rows;
  }

  /**
   * Returns the rows of a type that the caller may search. Without a caller the server acts for itself and sees all
   * rows.
   */
  async searchedRows(type: string): Promise<GrantedRows | undefined> {
    const request = this.asked.ofPresent();
    return request === undefined ? 'all' : (await this.decisionOnSearch(request, type)).rows;
  }

  async refusalOfSearch(types: readonly string[]): Promise<ServiceError> {
    const [request, [type = '']] = [this.asked.ofPresent(), types];
    if (request === undefined) throw nobodyCalls();
    const decision = await this.decisionOnSearch(request, type);
    const refusal = await this.denials.refusalOf(this.asked.ofSearch(request, type), decision);
    return new ServiceError(
      'reference-target-forbidden',
      `This leads to ${types.join(', ')}, which you may not search. ${refusal.message}`,
    );
  }

  async openedRows(): Promise<GrantedRows | undefined> {
    const request = this.asked.ofPresent();
    if (request === undefined) return 'all';
    return (await this.access.decide(request, (policy) => isOpening(policy, request))).rows;
  }

  async assertMayRedefine(parameters: readonly { readonly type: string; readonly code: string }[]): Promise<void> {
    if (this.asked.ofPresent() === undefined) return;
    const { policies } = await this.policies.current();
    const isUsed = policies.some(({ criteria }) =>
      criteria.some((criterion) => parameters.some((parameter) => mayUse(criterion, parameter))),
    );
    if (!isUsed || (await this.rowsOf(POLICY_CREATION)) === 'all') return;
    throw new ServiceError(
      'rows-not-granted',
      'Criteria of policies use this search parameter. A change of it changes what these policies grant, so it needs the right to create policies.',
    );
  }

  async readerNamed(principal: NativeReference): Promise<Reader | undefined> {
    const reader = await this.readers.of(principal);
    if (!(await couldCall(reader))) return undefined;
    return {
      rowsOf: async (resource) => (await this.access.decide(readBy(reader, resource))).rows,
      searchedRows: async (type) => (await this.decisionOnSearch(reader, type)).rows,
    };
  }

  /**
   * Decides whether the caller may search a type. Chains, includes and all other ways to read another type use this
   * decision.
   */
  private async decisionOnSearch(request: LazyRequest, type: string): Promise<Decision> {
    const byType = this.searches.get(request) ?? new Map<string, Decision>();
    this.searches.set(request, byType);
    const decision = byType.get(type) ?? (await this.access.decide(this.asked.ofSearch(request, type)));
    byType.set(type, decision);
    return decision;
  }
}

/**
 * Whether the policy also grants the resources of other types that the request reads, for example by a chain or an
 * include. The author of the policy says so by the engine `allow`, or by a link to the Operation of the request.
 */
const isOpening = ({ engine, links }: CompiledPolicy, { operationId }: LazyRequest): boolean =>
  engine === 'allow' || links.some(({ resourceType, id }) => resourceType === 'Operation' && id === operationId);

const nobodyCalls = (): ServiceError => new ServiceError('forbidden', 'Without a caller, access cannot be granted.');
