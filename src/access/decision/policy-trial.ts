import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { type CompiledPolicy } from '../policy/compiled-policy';
import { PolicyRows } from '../criteria/policy-rows';
import { type FailedClause } from '../policy/policy-engine';
import { type AccessRequest } from '../request/access-request';

export type TrialOutcome =
  { readonly granted: GrantedRows } | { readonly granted: undefined; readonly failed: FailedClause };

/** Evaluates one policy whose links cover the request. */
@Injectable()
export class PolicyTrial {
  constructor(private readonly rows: PolicyRows) {}

  /** @param request undefined when the User lacks the Role of the policy */
  async of(policy: CompiledPolicy, request: AccessRequest | undefined): Promise<TrialOutcome> {
    if (request === undefined) return failedAt('roleName', 'the User must hold a Role of this name');
    const failed = await policy.check(request);
    if (failed !== undefined) return { granted: undefined, failed };
    if (policy.criteria.length === 0) return { granted: 'all' };
    const granted = await this.rows.of(policy, request);
    return granted.length > 0
      ? { granted }
      : failedAt('criteria', 'a value of each criterion is missing, or cannot be searched for');
  }
}

const failedAt = (path: string, reason: string): TrialOutcome => ({ granted: undefined, failed: { path, reason } });
