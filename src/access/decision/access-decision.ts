import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { Slices } from '../../platform/time/slices';
import { PolicyRows } from '../criteria/policy-rows';
import { AccessPolicies } from '../policy/access-policies';
import { type CompiledPolicy } from '../policy/compiled-policy';
import { failedByBody, type FailedClause } from '../policy/policy-engine';
import { type PolicyIndex } from '../policy/policy-index';
import { asHolderOf } from '../request/caller-parts';
import { type LazyRequest } from '../request/lazy-request';
import { Roles } from '../roles/roles';

/** A policy that covers a request but does not grant it. */
export interface TriedPolicy {
  readonly policy: CompiledPolicy;
  readonly failed: FailedClause;
}

export interface Decision {
  /** The rows that the policies grant; undefined if no policy grants the request. */
  readonly rows: GrantedRows | undefined;
  /** The policies that were evaluated before the decision and do not grant. */
  readonly tried: readonly TriedPolicy[];
}

/** A policy that covers a request, with the result of its evaluation. */
export type PolicyOutcome =
  | (TriedPolicy & { readonly granted: undefined })
  | {
      readonly policy: CompiledPolicy;
      readonly granted: GrantedRows;
      /** The criteria of the policy that grant these rows, as written in the policy. */
      readonly criteria: readonly string[];
    };

/** Decides requests. A request is denied unless a policy grants it. */
@Injectable()
export class AccessDecision {
  constructor(
    private readonly policies: AccessPolicies,
    private readonly rows: PolicyRows,
    private readonly roles: Roles,
    private readonly slices: Slices,
  ) {}

  /**
   * Evaluates the policies that cover a request. The first policy that grants without criteria ends the evaluation. If
   * there is none, the criteria of all granting policies are collected, and a resource must match one of them.
   * @param counts selects the policies to evaluate; without it, all are evaluated
   */
  async decide(request: LazyRequest, counts?: (policy: CompiledPolicy) => boolean): Promise<Decision> {
    const tried: TriedPolicy[] = [];
    const rows = new Set<string>();
    for await (const outcome of this.outcomes(request, await this.policies.current(), counts)) {
      if (outcome.granted === 'all') return { rows: 'all', tried };
      if (outcome.granted === undefined) tried.push(outcome);
      else for (const criterion of outcome.granted) rows.add(criterion);
    }
    return { rows: rows.size === 0 ? undefined : [...rows], tried };
  }

  /**
   * Evaluates the policies of an index that cover a request, one at a time, in the order of evaluation. Other requests
   * may run between two policies: with a large body, each policy may read thousands of items.
   */
  async *outcomes(
    request: LazyRequest,
    index: PolicyIndex,
    counts: (policy: CompiledPolicy) => boolean = () => true,
  ): AsyncGenerator<PolicyOutcome, undefined> {
    const pause = this.slices.pauses();
    const covering = index.covering(request).filter(counts);
    for (const policy of covering) {
      if (policy.roleName !== undefined) continue;
      await pause();
      yield this.outcomeOf(policy, request);
    }
    // The User's Roles are read only if no policy without `roleName` has decided.
    let held: Set<string> | undefined;
    for (const policy of covering) {
      const { roleName } = policy;
      if (roleName === undefined) continue;
      held ??= new Set((await this.roles.of(request.caller)).map(({ name }) => name));
      await pause();
      yield held.has(roleName)
        ? this.outcomeOf(policy, asHolderOf(roleName, request))
        : failedAt(policy, 'roleName', 'the User must hold a Role of this name');
    }
  }

  private async outcomeOf(policy: CompiledPolicy, request: LazyRequest): Promise<PolicyOutcome> {
    try {
      const failed = await policy.check(request);
      if (failed !== undefined) return { policy, granted: undefined, failed };
      if (policy.criteria.length === 0) return { policy, granted: 'all', criteria: [] };
      const granting = await this.rows.of(policy, request);
      return granting.size > 0
        ? { policy, granted: [...granting.values()], criteria: [...granting.keys()] }
        : failedAt(policy, 'criteria', 'a value of each criterion is missing, or cannot be searched for');
    } catch (error) {
      return { policy, granted: undefined, failed: failedByBody(error) };
    }
  }
}

const failedAt = (policy: CompiledPolicy, path: string, reason: string): PolicyOutcome => ({
  policy,
  granted: undefined,
  failed: { path, reason },
});
