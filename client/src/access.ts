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

/** What a policy says about a request that is described, not sent. */
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

/** Explanations of access. */
export class Access {
  constructor(private readonly connection: Connection) {}

  /** The decision that a refusal names (`SvcError.decisionId`); kept for a day. */
  decision(id: string): Promise<Decision> {
    return this.connection.json('GET', `/auth/decisions/${encodeURIComponent(id)}`);
  }

  /** Tries a policy, stored (by its id) or not, on a described request. */
  test(request: Readonly<Record<string, unknown>>, policy: string | object): Promise<PolicyTrial> {
    return this.connection.json('POST', '/auth/test-policy', { body: { request, policy } });
  }
}
