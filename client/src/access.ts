import type { Connection } from './connection.js';

/** Why a request was denied: paths and reasons, but never values of the request. */
export interface Decision {
  readonly id: string;
  readonly at: string;
  readonly request: Readonly<Record<string, unknown>>;
  /**
   * The policies that cover the request. For each policy, `failed` is the first clause that the request did not meet.
   */
  readonly policies: readonly {
    readonly id: string;
    readonly engine: string;
    readonly failed: { readonly path: string; readonly reason: string };
  }[];
  /** The reason why no policy is listed, and how to change that. */
  readonly note?: string;
  /** Number of further policies that are not listed. */
  readonly more?: number;
  /**
   * Set if the request was denied because policies grant only some resources, and a request of this kind cannot filter
   * its results.
   */
  readonly limited?: true;
}

/** A denied request in a list. The policies are in its decision. */
export type DeniedRequest = Pick<Decision, 'id' | 'at' | 'request'>;

/** The decision of one policy on a described request. The request is not sent. */
export interface PolicyTrial {
  readonly request: Readonly<Record<string, unknown>>;
  readonly operation: { readonly id: string } | null;
  readonly policy: Readonly<Record<string, unknown>>;
  readonly result: {
    readonly 'eval-result': boolean;
    readonly failed?: { readonly path: string; readonly reason: string };
    readonly criteria?: readonly string[];
  };
}

/** A policy that covers a described request, with its decision. */
export interface TriedPolicy {
  readonly id: string;
  readonly engine: string;
  /** The links of the policy that fit the request; absent for a policy without links. */
  readonly link?: readonly { readonly resourceType: string; readonly id: string }[];
  readonly roleName?: string;
  readonly result: PolicyTrial['result'] & {
    /**
     * Whether the criteria of the grant find the resource that the request names; absent if the grant has no criteria
     * or the request names no resource.
     */
    readonly 'finds-resource'?: boolean;
    /**
     * The reason why the criteria do not find the resource; absent if the caller of the test may not read the resource.
     */
    readonly reason?: string;
  };
}

/** The decision of all policies of a caller on a described request. The request is not sent. */
export interface RequestTrial {
  readonly request: Readonly<Record<string, unknown>>;
  readonly operation: { readonly id: string } | null;
  readonly decision: {
    readonly granted: boolean;
    readonly rows?: 'all' | 'some';
    /** Id of the policy that grants the request without a limit. */
    readonly by?: string;
    readonly 'finds-resource'?: boolean;
    /** Whether the resource that the request names is stored; absent if the caller of the test may not learn it. */
    readonly 'is-stored'?: boolean;
  };
  /** The policies in the order of their evaluation, at most 100. */
  readonly policies: readonly TriedPolicy[];
  /** Number of further policies that cover the request but are not listed. */
  readonly more?: number;
  readonly note?: string;
}

/** Explains why requests are granted or denied. */
export class Access {
  constructor(private readonly connection: Connection) {}

  /** The decision that a refusal names (`SvcError.decisionId`). The server keeps decisions for a day. */
  decision(id: string): Promise<Decision> {
    return this.connection.json('GET', `/auth/decisions/${encodeURIComponent(id)}`);
  }

  /** The latest denied requests, newest first: only the requests of one User or one Client, or the requests of all. */
  async decisions(of: { readonly user?: string; readonly client?: string } = {}): Promise<readonly DeniedRequest[]> {
    const query = Object.entries(of).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const { decisions } = await this.connection.json<{ readonly decisions: readonly DeniedRequest[] }>(
      'GET',
      `/auth/decisions${query.length === 0 ? '' : `?${query.join('&')}`}`,
    );
    return decisions;
  }

  /** Tries a policy on a described request. The policy is given by its id if it is stored, else as an object. */
  test(request: Readonly<Record<string, unknown>>, policy: string | object): Promise<PolicyTrial> {
    return this.connection.json('POST', '/auth/test-policy', { body: { request, policy } });
  }

  /** Tries all policies of a caller on a described request, which names the caller by `user-id` or `client-id`. */
  testRequest(request: Readonly<Record<string, unknown>>): Promise<RequestTrial> {
    return this.connection.json('POST', '/auth/test-request', { body: { request } });
  }
}
