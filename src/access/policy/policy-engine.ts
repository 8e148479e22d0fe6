import { DiscoveryService } from '@nestjs/core';
import { type Resource } from '../../fhir/types';
import { type AccessRequest } from '../request/access-request';
import { UnreadableBody } from '../request/unreadable-body';

/** The first clause of a policy that a request failed. Neither member contains a value of the request. */
export interface FailedClause {
  readonly path: string;
  /** The value or condition that the clause expects. */
  readonly reason: string;
}

/** A function that returns the clause that a request failed; undefined when the policy grants the request. */
export type PolicyCheck = (request: AccessRequest) => FailedClause | undefined | Promise<FailedClause | undefined>;

/** The failure of a policy that reads a body which cannot be read. @throws any other error */
export function failedByBody(error: unknown): FailedClause {
  if (error instanceof UnreadableBody) return { path: 'engine', reason: 'the body must be JSON or YAML to be read' };
  throw error;
}

/**
 * Evaluates the policies whose `engine` names it. A policy is evaluated for the Users, Clients and Operations in its
 * `link`; without `link`, for all requests.
 */
export interface PolicyEngine {
  /** Names of the policy's members that this engine reads, in addition to the members of all policies. */
  readonly members?: readonly string[];
  /** Whether the engine evaluates only calls of RPC methods. */
  readonly isForRpc?: boolean;
  /**
   * Compiles one policy. Called when the policy is stored, to validate it, and when a server first uses the stored
   * policy.
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
