import { type NativeReference, type Resource } from '../../fhir/types';
import { handlerNameOf } from '../../platform/discovery/handler-calls';
import { ServiceError } from '../../platform/errors/service-error';
import { type CriteriaTemplate, parseCriterion } from '../criteria/criteria-template';
import { type PolicyCheck, type PolicyEngine } from './policy-engine';
import { type PolicyEngines } from './policy-engine.registry';

/** A stored grant (interface, "Authentication", rule 5): a request that no policy grants is denied. */
interface AccessPolicy extends Resource {
  readonly engine: string;
  /** The callers or Operations that it covers, as alternatives. Without links it covers every authenticated caller. */
  readonly link?: readonly NativeReference[];
  /** Covers only Users with a Role of this name. */
  readonly roleName?: string;
  /** Covers requests of one kind only; absent: all. */
  readonly type?: 'rest' | 'rpc';
  /** Limits the grant to resources that match one of these searches. */
  readonly criteria?: string | readonly string[];
}

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
  const { id = '', engine, link = [], roleName, type, criteria = [] } = resource as AccessPolicy;
  return {
    id,
    engine,
    links: link,
    roleName,
    type,
    criteria: [criteria].flat().map(templateOf),
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
