import { DiscoveryService } from '@nestjs/core';
import { type Resource } from '../../fhir/types';
import { type AccessRequest } from '../request/access-request';

/** Why a policy does not grant: its first clause that failed. Neither part repeats a value of the request. */
export interface FailedClause {
  /** Where in the policy, such as `matcho.params.patient`. */
  readonly path: string;
  /** What was expected there. */
  readonly reason: string;
}

/** Tells the clause that failed; nothing when the policy grants. */
export type PolicyCheck = (request: AccessRequest) => FailedClause | undefined | Promise<FailedClause | undefined>;

/** Decides for the policies that name it as `engine`, when their links cover the request. */
export interface PolicyEngine {
  /** Members of a policy that this engine reads, beside those that every policy may have. */
  readonly members?: readonly string[];
  /** Whether it decides calls of RPC methods and nothing else. */
  readonly isForRpc?: boolean;
  /**
   * Makes the check of one policy, once per change of the policies. The same body is compiled when it is stored.
   * @throws ServiceError 'unprocessable' with an expression, for a policy that this engine cannot work with
   */
  compile(policy: Resource): PolicyCheck;
}

/** Registers a {@link PolicyEngine} under the name that policies give as `engine`. */
export const EngineOf = DiscoveryService.createDecorator<string>();
