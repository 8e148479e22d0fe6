import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../platform/http/granted-rows';
import { AccessPolicies } from './access-policies';
import { type CompiledPolicy } from './compiled-policy';
import { PolicyRows } from './criteria/policy-rows';
import { type FailedClause } from './policy-engine';
import { type AccessRequest } from './request/access-request';

/** What became of one policy. */
export interface TriedPolicy {
  readonly policy: CompiledPolicy;
  readonly failed: FailedClause;
}

export type Decision =
  | { readonly granted: false; readonly tried: readonly TriedPolicy[] }
  | { readonly granted: true; readonly rows: GrantedRows };

/** Decides requests: denied unless a policy grants. */
@Injectable()
export class AccessDecision {
  constructor(
    private readonly policies: AccessPolicies,
    private readonly rows: PolicyRows,
  ) {}

  /** The first grant without criteria decides; else all grants are collected, and one of their criteria must hold. */
  async decide(request: AccessRequest): Promise<Decision> {
    const tried: TriedPolicy[] = [];
    const rows: string[] = [];
    for (const policy of (await this.policies.current()).covering(request)) {
      const failed = await policy.check(request);
      if (failed === undefined && policy.criteria.length === 0) return { granted: true, rows: 'all' };
      const granted = failed === undefined ? await this.rows.of(policy, request) : [];
      if (granted.length > 0) rows.push(...granted);
      else
        tried.push({
          policy,
          failed: failed ?? { path: 'criteria', reason: 'a value is missing or cannot be searched for' },
        });
    }
    return rows.length === 0 ? { granted: false, tried } : { granted: true, rows: [...new Set(rows)] };
  }
}
