import { type NativeReference, type Resource } from '../../fhir/types';
import { handlerNameOf } from '../../platform/discovery/handler-calls';
import { type CriteriaTemplate, parseCriterion } from '../criteria/criteria-template';
import { type PolicyCheck, type PolicyEngine } from './policy-engine';
import { type PolicyEngines } from './policy-engine.registry';
import { policyFault } from './policy-fault';

/** A stored policy (interface specification, "Authentication", rule 5). A request that no policy grants is denied. */
interface AccessPolicy extends Resource {
  readonly engine: string;
  /**
   * The callers or Operations that the policy covers; one of them must fit the request. Without links it covers every
   * authenticated caller.
   */
  readonly link?: readonly NativeReference[];
  /** If present, the policy covers only Users with a Role of this name. */
  readonly roleName?: string;
  /** If present, the policy covers only requests of this kind. */
  readonly type?: 'rest' | 'rpc';
  /** If present, the grant is limited to resources that match one of these searches. */
  readonly criteria?: string | readonly string[];
}

/** A policy in the form that decisions use. */
export interface CompiledPolicy {
  readonly id: string;
  readonly engine: string;
  readonly links: readonly NativeReference[];
  readonly roleName: string | undefined;
  readonly type: 'rest' | 'rpc' | undefined;
  readonly criteria: readonly CriteriaTemplate[];
  readonly check: PolicyCheck;
}

/** @throws ServiceError 'unprocessable' with the expression of the invalid member */
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
  // Refuses an engine whose result is not a function. A stored policy with such a result would fail each request of the
  // callers that it links to.
  if (typeof check !== 'function') throw new Error(`${handlerNameOf(engine)} compiled a policy to what is no function`);
  return check as PolicyCheck;
}

function templateOf(text: string): CriteriaTemplate {
  const template = parseCriterion(text);
  if (typeof template !== 'string') return template;
  throw policyFault('criteria', template);
}
