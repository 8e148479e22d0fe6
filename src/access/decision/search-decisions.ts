import { Injectable } from '@nestjs/common';
import { AccessDecision, type Decision } from './access-decision';
import { AccessRequests } from '../request/access-requests';
import { type LazyRequest } from '../request/lazy-request';

/**
 * Whether a caller may search a type: the one answer for all that leads a request to another type. It is kept as long as the
 * request that it is asked for: of a caller for one request, of the principal of a destination until rights change.
 */
@Injectable()
export class SearchDecisions {
  private readonly known = new WeakMap<LazyRequest, Map<string, Decision>>();

  constructor(
    private readonly access: AccessDecision,
    private readonly asked: AccessRequests,
  ) {}

  async of(request: LazyRequest, type: string): Promise<Decision> {
    const byType = this.known.get(request) ?? new Map<string, Decision>();
    this.known.set(request, byType);
    const decision = byType.get(type) ?? (await this.access.decide(this.asked.ofSearch(request, type)));
    byType.set(type, decision);
    return decision;
  }
}
