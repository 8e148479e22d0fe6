import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { EngineOf, type PolicyCheck, type PolicyEngine } from '../policy/policy-engine';
import { policyFault } from '../policy/policy-fault';
import { notListed, rpcMethodsOf } from './rpc-methods';

/** Grants calls of the methods that `rpc` of the policy names: `{"svc.sdc.addendum/add-note": true}`. */
@Injectable()
@EngineOf('allow-rpc')
export class AllowRpcEngine implements PolicyEngine {
  readonly members = ['rpc'];
  readonly isForRpc = true;

  compile({ rpc }: Resource): PolicyCheck {
    const methods = rpcMethodsOf(rpc);
    for (const [name, value] of methods) {
      if (value !== true) throw policyFault(`rpc.${name}`, 'must be true; leave out methods that are not granted');
    }
    return (request) => (request.rpc !== undefined && methods.has(request.rpc.method) ? undefined : notListed);
  }
}
