import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../platform/http/granted-rows';
import { AccessPolicies } from './access-policies';
import { type CompiledPolicy } from './compiled-policy';
import { type FailedClause } from './policy-engine';
import { PolicyTrial } from './policy-trial';
import { asHolderOf } from './request/caller-parts';
import { type LazyRequest } from './request/lazy-request';
import { Roles } from './roles/roles';

/** A policy that covers a request and does not grant it. */
export interface TriedPolicy {
  readonly policy: CompiledPolicy;
  readonly failed: FailedClause;
}

export type Decision =
  | { readonly granted: false; readonly tried: readonly TriedPolicy[] }
  | { readonly granted: true; readonly rows: GrantedRows };

interface Candidate {
  readonly policy: CompiledPolicy;
  /** The request as the policy sees it; undefined when its User does not hold the Role. */
  readonly request: LazyRequest | undefined;
}

/** Decides requests: denied unless a policy grants. */
@Injectable()
export class AccessDecision {
  constructor(
    private readonly policies: AccessPolicies,
    private readonly trial: PolicyTrial,
    private readonly roles: Roles,
  ) {}

  /** The first grant without criteria decides; else all grants are collected, and one of their criteria must hold. */
  async decide(request: LazyRequest): Promise<Decision> {
    const tried: TriedPolicy[] = [];
    const rows = new Set<string>();
    for await (const candidate of this.candidatesFor(request)) {
      const outcome = await this.trial.of(candidate.policy, candidate.request);
      if (outcome.granted === 'all') return { granted: true, rows: 'all' };
      if (outcome.granted === undefined) tried.push({ policy: candidate.policy, failed: outcome.failed });
      else for (const criterion of outcome.granted) rows.add(criterion);
    }
    return rows.size === 0 ? { granted: false, tried } : { granted: true, rows: [...rows] };
  }

  /** Roles are read when no other policy has decided. */
  private async *candidatesFor(request: LazyRequest): AsyncGenerator<Candidate> {
    const index = await this.policies.current();
    for (const policy of index.covering(request)) yield { policy, request };
    const ofRoles = index.coveringRoles(request);
    if (ofRoles.length === 0) return;
    const held = new Set((await this.roles.of(request.caller)).map(({ name }) => name));
    for (const policy of ofRoles) {
      const { roleName = '' } = policy;
      yield { policy, request: held.has(roleName) ? asHolderOf(roleName, request) : undefined };
    }
  }
}
