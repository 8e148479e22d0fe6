import { DiscoveryService } from '@nestjs/core';
import { type Resource } from '../../fhir/types';
import { type AccessRequest } from '../request/access-request';

/** The first clause of a policy that failed. Neither member repeats a value of the request. */
export interface FailedClause {
  /** Position in the policy, such as `matcho.params.patient`. */
  readonly path: string;
  /** The expected value or condition. */
  readonly reason: string;
}

/** Returns the clause that failed, or undefined when the policy grants. */
export type PolicyCheck = (request: AccessRequest) => FailedClause | undefined | Promise<FailedClause | undefined>;

/** Evaluates the policies that name it as `engine`, when their links cover the request. */
export interface PolicyEngine {
  /** Members of a policy that this engine reads, in addition to the common ones. */
  readonly members?: readonly string[];
  /** Whether it evaluates only calls of RPC methods. */
  readonly isForRpc?: boolean;
  /**
   * Compiles one policy, once per change of the policies. Storing a policy compiles it too, as validation.
   * @throws ServiceError 'unprocessable' with an expression, for an invalid policy
   */
  compile(policy: Resource): PolicyCheck;
}

/**
 * Registers a {@link PolicyEngine} under the name that policies use as `engine`.
 * @example
 * &#64;Injectable()
 * &#64;EngineOf('acme-read-only')
 * export class ReadOnly implements PolicyEngine {
 *   compile(): PolicyCheck {
 *     return ({ operationId }) =>
 *       operationId === 'FhirRead' ? undefined : { path: 'engine', reason: 'only reading is granted' };
 *   }
 * }
 */
export const EngineOf = DiscoveryService.createDecorator<string>();
