import { DiscoveryService } from '@nestjs/core';
import { type Caller } from '../platform/http/caller';
import { type Resource } from '../fhir/types';
import { type AccessPolicy } from './access-policy';

/** What is asked for, as policies see it. */
export interface AccessRequest {
  readonly caller: Caller;
  /** The name of the route, for links to an Operation; for example `FhirRead`. */
  readonly operationId: string | undefined;
}

/** Decides whether one policy, whose links cover the request, grants it. */
export interface PolicyEngine {
  /** Members of a policy that this engine reads, beside those that every policy may have. */
  readonly members?: readonly string[];
  grants(policy: AccessPolicy, request: AccessRequest): boolean | Promise<boolean>;
  /** @throws ServiceError 'unprocessable' for a policy that this engine cannot work with. */
  check?(policy: Resource): void;
}

/** Registers a {@link PolicyEngine} under the name that policies give as `engine`. */
export const EngineOf = DiscoveryService.createDecorator<string>();
