import { type FailedClause } from '../policy/policy-engine';
import { type AccessRequest } from '../request/access-request';
import { RESERVED_PARAMS } from '../request/route-params';

/** What is told of a denial: who asked for what kind of thing, and where each policy failed. No values of the request. */
export interface DenialSummary {
  readonly request: {
    readonly method?: string;
    readonly operation?: string;
    readonly resourceType?: string;
    /** Names of the parameters, without their values. */
    readonly parameters?: readonly string[];
    readonly rpcMethod?: string;
    readonly user?: string;
    readonly client: string;
  };
  /** Policies that cover the request, in the order in which they were tried. */
  readonly policies: readonly TriedPolicySummary[];
  /** Explains an empty list, and how to fill it. */
  readonly note?: string;
  /** How many more were tried than are listed. */
  readonly more?: number;
  /** Says that policies grant some resources, where this route cannot keep to some. */
  readonly limited?: true;
}

export interface TriedPolicySummary {
  readonly id: string;
  readonly engine: string;
  readonly failed: FailedClause;
}

const MAX_POLICIES = 100;
const MAX_PARAMETERS = 32;
const MAX_NAME_LENGTH = 64;

export async function requestSummaryOf(request: AccessRequest): Promise<DenialSummary['request']> {
  const { caller, operationId, rpc } = request;
  const { 'request-method': method, params = {} } = await request.read(['request-method', 'params']);
  const { 'resource/type': type } = params as Record<string, unknown>;
  const names = Object.keys(params as object).filter((name) => !RESERVED_PARAMS.has(name));
  return {
    ...(typeof method === 'string' ? { method } : {}),
    ...(operationId === undefined ? {} : { operation: operationId }),
    ...(typeof type === 'string' && /^[A-Z][A-Za-z]{0,63}$/.test(type) ? { resourceType: type } : {}),
    ...(names.length === 0 ? {} : { parameters: names.slice(0, MAX_PARAMETERS).map(shortened) }),
    ...(rpc === undefined ? {} : { rpcMethod: shortened(rpc.method) }),
    ...(caller.userId === undefined ? {} : { user: caller.userId }),
    client: caller.clientId,
  };
}

export function policySummariesOf(
  tried: readonly {
    readonly policy: { readonly id: string; readonly engine: string };
    readonly failed: FailedClause;
  }[],
): Pick<DenialSummary, 'policies' | 'more'> {
  const policies = tried.slice(0, MAX_POLICIES).map(({ policy: { id, engine }, failed }) => ({ id, engine, failed }));
  return { policies, ...(tried.length > policies.length ? { more: tried.length - policies.length } : {}) };
}

/** Says why no policy was tried. */
export function noteOn({ user, client, operation }: DenialSummary['request'], isLimited: boolean): string {
  if (isLimited)
    return 'The policies that grant this request limit it to some resources; this route cannot keep to some.';
  const caller = user === undefined ? `the Client "${client}"` : `the User "${user}"`;
  const places = operation === undefined ? caller : `${caller} or to the Operation "${operation}"`;
  return `No AccessPolicy covers this request. Link one to ${places} (docs/security.md, "Policies").`;
}

const shortened = (name: string): string => name.slice(0, MAX_NAME_LENGTH);
