import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { compileMatcho } from '../matcho/compile-matcho';
import { EngineOf, type PolicyCheck, type PolicyEngine } from '../policy/policy-engine';
import { notListed, rpcMethodsOf } from './rpc-methods';

/**
 * Grants a call if its request object matches the pattern that `rpc` has for its method. `params` in the pattern means
 * the params of the call.
 */
@Injectable()
@EngineOf('matcho-rpc')
export class MatchoRpcEngine implements PolicyEngine {
  readonly members = ['rpc'];
  readonly isForRpc = true;

  constructor(private readonly environment: Environment) {}

  compile({ rpc }: Resource): PolicyCheck {
    const patterns = new Map(
      [...rpcMethodsOf(rpc)].map(([method, pattern]) => [
        method,
        compileMatcho(pattern, `rpc.${method}`, this.environment.baseUrl),
      ]),
    );
    return async (request) => {
      const call = request.rpc;
      const pattern = call === undefined ? undefined : patterns.get(call.method);
      if (pattern === undefined) return notListed;
      return pattern.match({ ...(await request.read(pattern.parts)), params: call?.params });
    };
  }
}
