import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { isObject } from '../../platform/json/plain-object';
import { Slices } from '../../platform/time/slices';
import {
  EngineOf,
  failedByBody,
  type FailedClause,
  type PolicyCheck,
  type PolicyEngine,
} from '../policy/policy-engine';
import { PolicyEngines } from '../policy/policy-engine.registry';
import { policyFault } from '../policy/policy-fault';

const MAX_DEPTH = 8;
const MAX_RULES = 100;

/** Combines rules of any engine, also of `complex`: all rules in `and` must grant, or one rule in `or`. */
@Injectable()
@EngineOf('complex')
export class ComplexEngine implements PolicyEngine {
  readonly members = ['and', 'or'];

  constructor(
    private readonly engines: PolicyEngines,
    private readonly slices: Slices,
  ) {}

  compile(policy: Resource): PolicyCheck {
    return new ComplexCompiler(this.engines, policy.type === 'rpc', this.slices).level(policy, 0);
  }
}

class ComplexCompiler {
  private rules = 0;

  constructor(
    private readonly engines: PolicyEngines,
    private readonly isRpc: boolean,
    private readonly slices: Slices,
  ) {}

  level({ and, or }: Readonly<Record<string, unknown>>, depth: number): PolicyCheck {
    if (and !== undefined && or !== undefined) throw policyFault('and', 'and "or" exclude each other on one level');
    const name = and === undefined ? 'or' : 'and';
    const list = and ?? or;
    if (!Array.isArray(list) || list.length === 0) throw policyFault(name, 'must be a list of rules');
    if (depth >= MAX_DEPTH) throw policyFault(name, `is nested more than ${MAX_DEPTH} levels deep`);
    const checks = list.map((rule: unknown, at) => within(`${name}[${at}]`, () => this.rule(rule, depth)));
    return combined(checks, name, this.slices);
  }

  private rule(rule: unknown, depth: number): PolicyCheck {
    if (++this.rules > MAX_RULES) throw policyFault('rules', `are more than ${MAX_RULES}`);
    if (!isObject(rule)) throw policyFault('rule', 'must be an object with an engine');
    const engine = this.engines.named(rule.engine);
    if (engine.isForRpc === true && !this.isRpc)
      throw policyFault('engine', 'decides calls of methods; the policy must have the type "rpc"');
    const known = ['engine', 'description', ...(engine.members ?? [])];
    const unknown = Object.keys(rule).find((member) => !known.includes(member));
    if (unknown !== undefined) throw policyFault(unknown, 'is not supported in a rule');
    if (engine instanceof ComplexEngine) return this.level(rule, depth + 1);
    return engine.compile({ ...rule, resourceType: 'AccessPolicy' });
  }
}

/** Puts the position of a rule in the policy (`at`) in front of the paths in its failures and errors. */
function within(at: string, compile: () => PolicyCheck): PolicyCheck {
  const outer = (path = ''): string => `AccessPolicy.${at}${path.replace(/^AccessPolicy/, '')}`;
  try {
    const check = compile();
    return async (request) => {
      const failed = await Promise.resolve(check(request)).catch(failedByBody);
      return failed === undefined ? undefined : { ...failed, path: `${at}.${failed.path}` };
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { expression } = error.details;
    throw new ServiceError('policy-invalid', error.message.replace(/^AccessPolicy[^ ]*/, outer), {
      expression: outer(expression),
    });
  }
}

/**
 * Combines rules: `and` ends at the first failure, `or` at the first grant. If all rules of `or` fail, it returns the
 * failure of the last rule: authors order rules from special to general.
 */
function combined(checks: readonly PolicyCheck[], name: 'and' | 'or', slices: Slices): PolicyCheck {
  return async (request) => {
    const pause = slices.pauses();
    let failed: FailedClause | undefined;
    for (const check of checks) {
      await pause();
      failed = await check(request);
      if ((failed === undefined) === (name === 'or')) return failed;
    }
    return failed;
  };
}
