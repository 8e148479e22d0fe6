import { Injectable } from '@nestjs/common';
import { type Caller } from '../platform/http/caller';
import { AccessPolicies } from './access-policies';
import { type AccessPolicy } from './access-policy';
import { type AccessRequest } from './policy-engine';
import { PolicyEngines } from './policy-engine.registry';

/** Decides requests: denied unless a policy grants. */
@Injectable()
export class AccessDecision {
  constructor(
    private readonly policies: AccessPolicies,
    private readonly engines: PolicyEngines,
  ) {}

  async isGranted(request: AccessRequest): Promise<boolean> {
    for (const policy of await this.policies.all()) {
      if (!covers(policy, request)) continue;
      const engine = this.engines.find(policy.engine)?.handler;
      if (engine !== undefined && (await engine.grants(policy, request))) return true;
    }
    return false;
  }
}

function covers({ link }: AccessPolicy, { caller, operationId }: AccessRequest): boolean {
  if (link.length === 0) return true;
  return link.some(({ resourceType, id }) => {
    switch (resourceType) {
      case 'User':
        return caller.userId === id;
      case 'Client':
        return isClientItself(caller) && caller.clientId === id;
      case 'Operation':
        return operationId === id;
      default:
        return false;
    }
  });
}

/** A client that acts on behalf of a user has the user's rights: policies are for the User (interface, "Authentication", 5). */
const isClientItself = ({ userId }: Caller): boolean => userId === undefined;
