import type { Connection } from './connection.js';

/** Why a request was denied: paths and reasons, never values. */
export interface Decision {
  readonly id: string;
  readonly at: string;
  readonly request: Readonly<Record<string, unknown>>;
  /** The policies that cover the request, with the first clause of each that failed. */
  readonly policies: readonly {
    readonly id: string;
    readonly engine: string;
    readonly failed: { readonly path: string; readonly reason: string };
  }[];
  /** Why no policy is listed, and how to change that. */
  readonly note?: string;
  /** How many further policies are not listed. */
  readonly more?: number;
  /** Whether policies grant only some resources, where rows cannot be filtered. */
  readonly limited?: true;
}

/** A denied request in a list: its decision has the policies. */
export type DeniedRequest = Pick<Decision, 'id' | 'at' | 'request'>;

/** The decision of a policy on a described request, which is not sent. */
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

/** A policy that covers a described request, and what it says. */
export interface TriedPolicy {
  readonly id: string;
  readonly engine: string;
  /** The links that fit the request; absent for a policy without links. */
  readonly link?: readonly { readonly resourceType: string; readonly id: string }[];
  readonly roleName?: string;
  readonly result: PolicyTrial['result'] & {
    /** Of a grant with criteria, for a request that names a resource: whether they find it. */
    readonly 'finds-resource'?: boolean;
    /** Why they do not find it; absent if the caller of the test may not read the resource. */
    readonly reason?: string;
  };
}

/** The decision of all policies of a caller on a described request, which is not sent. */
export interface RequestTrial {
  readonly request: Readonly<Record<string, unknown>>;
  readonly operation: { readonly id: string } | null;
  readonly decision: {
    readonly granted: boolean;
    readonly rows?: 'all' | 'some';
    /** The policy that grants without a limit. */
    readonly by?: string;
    readonly 'finds-resource'?: boolean;
    /** Whether the named resource is stored; absent if the caller of the test may not know. */
    readonly 'is-stored'?: boolean;
  };
  /** At most 100, in the order of evaluation. */
  readonly policies: readonly TriedPolicy[];
  /** How many further policies cover the request. */
  readonly more?: number;
  readonly note?: string;
}

/** Explanations of access. */
export class Access {
  constructor(private readonly connection: Connection) {}

  /** The decision that a refusal names (`SvcError.decisionId`); kept for a day. */
  decision(id: string): Promise<Decision> {
    return this.connection.json('GET', `/auth/decisions/${encodeURIComponent(id)}`);
  }

  /** The latest denied requests, newest first; of one User, one Client, or of all. */
  async decisions(of: { readonly user?: string; readonly client?: string } = {}): Promise<readonly DeniedRequest[]> {
    const query = Object.entries(of).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const { decisions } = await this.connection.json<{ readonly decisions: readonly DeniedRequest[] }>(
      'GET',
      `/auth/decisions${query.length === 0 ? '' : `?${query.join('&')}`}`,
    );
    return decisions;
  }

  /** Tries a policy, stored (by its id) or not, on a described request. */
  test(request: Readonly<Record<string, unknown>>, policy: string | object): Promise<PolicyTrial> {
    return this.connection.json('POST', '/auth/test-policy', { body: { request, policy } });
  }

  /** Tries all policies of a caller, `user-id` or `client-id`, on a described request. */
  testRequest(request: Readonly<Record<string, unknown>>): Promise<RequestTrial> {
    return this.connection.json('POST', '/auth/test-request', { body: { request } });
  }
}
