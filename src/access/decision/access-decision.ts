import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { Slices } from '../../platform/time/slices';
import { AccessPolicies } from '../policy/access-policies';
import { type CompiledPolicy } from '../policy/compiled-policy';
import { type FailedClause } from '../policy/policy-engine';
import { PolicyTrial, type TrialOutcome } from './policy-trial';
import { asHolderOf } from '../request/caller-parts';
import { type LazyRequest } from '../request/lazy-request';
import { Roles } from '../roles/roles';

/** A policy that covers a request but does not grant it. */
export interface TriedPolicy {
  readonly policy: CompiledPolicy;
  readonly failed: FailedClause;
}

export type Decision =
  | { readonly granted: false; readonly tried: readonly TriedPolicy[] }
  | { readonly granted: true; readonly rows: GrantedRows };

interface Candidate {
  readonly policy: CompiledPolicy;
  /** The request as the policy sees it. Undefined when the policy requires a Role that the User does not have. */
  readonly request: LazyRequest | undefined;
}

/** A policy that covers a request, with the result of its evaluation. */
export interface PolicyOutcome extends Candidate {
  readonly outcome: TrialOutcome;
}

interface Findings {
  readonly tried: TriedPolicy[];
  readonly rows: Set<string>;
  /** Lets other requests run between two policies: with a large body, each policy may read thousands of items. */
  readonly pause: () => Promise<void>;
}

const ALL: Decision = { granted: true, rows: 'all' };

/** Decides requests. A request is denied unless a policy grants it. */
@Injectable()
export class AccessDecision {
  constructor(
    private readonly policies: AccessPolicies,
    private readonly trial: PolicyTrial,
    private readonly roles: Roles,
    private readonly slices: Slices,
  ) {}

  /**
   * Evaluates the policies that cover a request. The first policy that grants without criteria ends the evaluation. If
   * there is none, the criteria of all granting policies are collected, and a resource must match one of them.
   * @param counts selects the policies to evaluate; without it, all are evaluated
   */
  async decide(request: LazyRequest, counts: (policy: CompiledPolicy) => boolean = () => true): Promise<Decision> {
    const index = await this.policies.current();
    const found: Findings = { tried: [], rows: new Set(), pause: this.slices.pauses() };
    for (const policy of index.covering(request).filter(counts)) {
      if (await this.isGrantOfAll({ policy, request }, found)) return ALL;
    }
    // The User's Roles are read only if no policy without `roleName` has decided.
    for (const candidate of await this.ofRoles(index.coveringRoles(request).filter(counts), request)) {
      if (await this.isGrantOfAll(candidate, found)) return ALL;
    }
    return found.rows.size === 0 ? { granted: false, tried: found.tried } : { granted: true, rows: [...found.rows] };
  }

  /**
   * Evaluates every policy that covers the request, in the same order as {@link decide}, even after a grant without
   * criteria.
   */
  async *outcomes(request: LazyRequest): AsyncGenerator<PolicyOutcome, void, void> {
    const index = await this.policies.current();
    const pause = this.slices.pauses();
    const plain = index.covering(request).map((policy): Candidate => ({ policy, request }));
    for (const candidate of [...plain, ...(await this.ofRoles(index.coveringRoles(request), request))]) {
      await pause();
      yield { ...candidate, outcome: await this.trial.of(candidate.policy, candidate.request) };
    }
  }

  private async isGrantOfAll({ policy, request }: Candidate, { tried, rows, pause }: Findings): Promise<boolean> {
    await pause();
    const outcome = await this.trial.of(policy, request);
    if (outcome.granted === 'all') return true;
    if (outcome.granted === undefined) tried.push({ policy, failed: outcome.failed });
    else for (const criterion of outcome.granted) rows.add(criterion);
    return false;
  }

  private async ofRoles(policies: readonly CompiledPolicy[], request: LazyRequest): Promise<readonly Candidate[]> {
    if (policies.length === 0) return [];
    const held = new Set((await this.roles.of(request.caller)).map(({ name }) => name));
    return policies.map((policy) => {
      const { roleName = '' } = policy;
      return { policy, request: held.has(roleName) ? asHolderOf(roleName, request) : undefined };
    });
  }
}
