import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { readJson } from '../../platform/json/read-json';
import { ResourceDraft } from '../../model/resource-draft';
import { ResourceReader } from '../../store/resource-reader';
import { AccessPolicyRule } from '../policy/access-policy.rule';
import { compilePolicy } from '../policy/compiled-policy';
import { isObject } from '../../platform/json/plain-object';
import { type FailedClause } from '../policy/policy-engine';
import { PolicyEngines } from '../policy/policy-engine.registry';
import { PolicyIndex } from '../policy/policy-index';
import { AccessDecision, type PolicyOutcome } from '../decision/access-decision';
import { type LazyRequest } from '../request/lazy-request';

export interface PolicyTestResult {
  readonly 'eval-result': boolean;
  readonly failed?: FailedClause;
  /**
   * Criteria that limit the grant, as written in the policy. Criteria that match nothing for this request are omitted.
   */
  readonly criteria?: readonly string[];
}

/** Evaluates one policy, stored or not, on a described request. */
@Injectable()
export class PolicyTest {
  constructor(
    private readonly reader: ResourceReader,
    private readonly rule: AccessPolicyRule,
    private readonly engines: PolicyEngines,
    private readonly access: AccessDecision,
  ) {}

  /**
   * Returns the given policy, or the stored one with the given id (`"x"`, `{"id": "x"}`).
   * @throws ServiceError like a write of the policy
   */
  async policyOf(sent: unknown): Promise<Resource> {
    const { id, engine } = isObject(sent) ? sent : { id: sent };
    if (typeof id === 'string' && engine === undefined)
      return JSON.parse((await this.reader.read('AccessPolicy', id)).text) as Resource;
    if (!isObject(sent)) throw new ServiceError('unprocessable', 'policy must be an AccessPolicy, or the id of one.');
    const draft = ResourceDraft.of(readJson(JSON.stringify(sent)), 'AccessPolicy');
    await this.rule.check(draft);
    return draft.value;
  }

  async resultOf(resource: Resource, request: LazyRequest): Promise<PolicyTestResult> {
    const policy = compilePolicy(resource, this.engines);
    const { value: outcome } = await this.access.outcomes(request, new PolicyIndex([policy])).next();
    if (outcome !== undefined) return resultFrom(outcome);
    const path = policy.links.length === 0 ? 'type' : 'link';
    return { 'eval-result': false, failed: { path, reason: 'the policy does not cover this request' } };
  }
}

export function resultFrom(outcome: PolicyOutcome): PolicyTestResult {
  if (outcome.granted === undefined) return { 'eval-result': false, failed: outcome.failed };
  if (outcome.granted === 'all') return { 'eval-result': true };
  return { 'eval-result': true, criteria: outcome.criteria };
}
