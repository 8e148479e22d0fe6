import { type TriedPolicy } from '../decision/access-decision';
import { type FailedClause } from '../policy/policy-engine';
import { type AccessRequest } from '../request/access-request';
import { RESERVED_PARAMS } from '../request/route-params';

/**
 * Summary of a denial: the caller, the kind of request, and the clause at which each policy failed. It contains no
 * values of the request.
 */
export interface DenialSummary {
  readonly request: {
    readonly method?: string;
    readonly operation?: string;
    readonly resourceType?: string;
    readonly parameters?: readonly string[];
    readonly rpcMethod?: string;
    readonly user?: string;
    readonly client: string;
  };
  /** Policies that cover the request, in the order of evaluation. */
  readonly policies: readonly { readonly id: string; readonly engine: string; readonly failed: FailedClause }[];
  /** For an empty list of policies: why it is empty, and which policy would grant the request. */
  readonly note?: string;
  /** How many further policies cover the request but are not listed. */
  readonly more?: number;
  /** True if policies grant the request for some resources only, and this route cannot filter its resources. */
  readonly limited?: true;
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

export function policySummariesOf(tried: readonly TriedPolicy[]): Pick<DenialSummary, 'policies' | 'more'> {
  const policies = tried.slice(0, MAX_POLICIES).map(({ policy: { id, engine }, failed }) => ({ id, engine, failed }));
  return { policies, ...(tried.length > policies.length ? { more: tried.length - policies.length } : {}) };
}

export function noteOn({ user, client, operation }: DenialSummary['request'], isLimited: boolean): string {
  if (isLimited)
    return 'The policies that grant this request limit it to some resources; this route cannot keep to some.';
  const caller = user === undefined ? `the Client "${client}"` : `the User "${user}"`;
  const places = operation === undefined ? caller : `${caller} or to the Operation "${operation}"`;
  return `No AccessPolicy covers this request. Link one to ${places} (docs/how-to/write-policies.md).`;
}

const shortened = (name: string): string => name.slice(0, MAX_NAME_LENGTH);
