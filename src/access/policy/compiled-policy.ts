import { type NativeReference, type Resource } from '../../fhir/types';
import { handlerNameOf } from '../../platform/discovery/handler-calls';
import { ServiceError } from '../../platform/errors/service-error';
import { type AccessPolicy, criteriaOf } from './access-policy';
import { type CriteriaTemplate, parseCriterion } from '../criteria/criteria-template';
import { type PolicyCheck, type PolicyEngine } from './policy-engine';
import { type PolicyEngines } from './policy-engine.registry';

/** A policy in the form that decisions use. */
export interface CompiledPolicy {
  readonly id: string;
  readonly engine: string;
  readonly links: readonly NativeReference[];
  readonly roleName: string | undefined;
  readonly type: 'rest' | 'rpc' | undefined;
  /** Empty for a grant without row limits. */
  readonly criteria: readonly CriteriaTemplate[];
  readonly check: PolicyCheck;
}

/** @throws ServiceError 'unprocessable' with the expression at fault */
export function compilePolicy(resource: Resource, engines: PolicyEngines): CompiledPolicy {
  const { id = '', engine, link = [], roleName, type } = resource as AccessPolicy;
  return {
    id,
    engine,
    links: link,
    roleName,
    type,
    criteria: criteriaOf(resource as AccessPolicy).map(templateOf),
    check: checkOf(engines.named(engine), resource),
  };
}

function checkOf(engine: PolicyEngine, resource: Resource): PolicyCheck {
  const check: unknown = engine.compile(resource);
  // Refuse it now: if stored, such a policy would fail each request of the callers that it links to.
  if (typeof check !== 'function') throw new Error(`${handlerNameOf(engine)} compiled a policy to what is no function`);
  return check as PolicyCheck;
}

function templateOf(text: string): CriteriaTemplate {
  const template = parseCriterion(text);
  if (typeof template !== 'string') return template;
  throw new ServiceError('unprocessable', `AccessPolicy.criteria ${template}.`, {
    code: 'policy-invalid',
    expression: 'AccessPolicy.criteria',
  });
}
