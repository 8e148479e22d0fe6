import { policyFault } from '../policy/policy-fault';
import { isObject } from '../../platform/json/plain-object';

/** Reads the member `rpc` of a policy: the condition of each method, by the name of the method. */
export function rpcMethodsOf(rpc: unknown): ReadonlyMap<string, unknown> {
  if (!isObject(rpc) || Object.keys(rpc).length === 0)
    throw policyFault('rpc', 'must be an object with the names of methods');
  return new Map(Object.entries(rpc));
}

export const notListed = { path: 'rpc', reason: 'the method is not listed' };
