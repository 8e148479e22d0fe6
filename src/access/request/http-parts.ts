import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { readJsonInSteps } from '../../platform/json/read-json';
import { addTo } from '../../platform/lists-by-key';
import { type Slices } from '../../platform/time/slices';
import { isObject } from '../../platform/json/plain-object';
import { type Resource } from '../../fhir/types';
import { readJsonBytes } from '../../fhir/edge/resource-request';
import { type PartSources } from './lazy-request';
import { RESERVED_PARAMS, routeParams } from './route-params';
import { UnreadableBody } from './unreadable-body';

/** Policies must not compare secrets; they identify the caller by `user`, `client`, `session` and `jwt`. */
const HIDDEN_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);

/** @param origin the HTTP request that contains this one, for an entry of a batch; else the request itself */
export function httpParts(
  request: Request,
  origin: Request,
  operationId: string | undefined,
  slices: Slices,
): PartSources {
  let known: Promise<unknown> | undefined;
  const body = (): Promise<unknown> => (known ??= bodyValue(request, slices));
  return {
    'request-method': () => request.method.toLowerCase(),
    scheme: () => origin.protocol,
    uri: () => uriOf(request),
    'query-string': () => queryOf(request).toString() && request.url.slice(request.url.indexOf('?') + 1),
    params: () => ({ ...queryValues(request), ...routeParams(request.params) }),
    resource: async () => resourceOf({ method: request.method, ...request.params }, await body()),
    body,
    headers: () => visibleHeaders({ ...origin.headers, ...request.headers }),
    'remote-addr': () => origin.ip,
    operation: () => (operationId === undefined ? undefined : { id: operationId }),
  };
}

/**
 * Returns the path of the URL, decoded and without a trailing slash. It is the path that the router read: of a target
 * such as `/fhir/Patient/p2#/Patient/p1` or `http://host/fhir/Patient/p2`, Express routes only `/fhir/Patient/p2`.
 */
function uriOf({ path: routed }: Request): string {
  const path = decodeURIComponent(routed);
  return path.length > 1 ? path.replace(/\/$/, '') : path;
}

/**
 * Returns the query parameters, together with those of the form of a search. Other routes read no form. If policies saw
 * one there, a caller could show them parameters that the route does not use.
 */
function queryValues(request: Request): Record<string, unknown> {
  const form = isSearchForm(request) ? new URLSearchParams(bodyOf(request).toString('utf8')) : [];
  return valuesByName([...queryOf(request), ...form]);
}

const isSearchForm = (request: Request): boolean =>
  /\/_search\/?$/.test(request.path) && mediaTypeOf(request) === 'application/x-www-form-urlencoded';

/** Groups parameters by name. One value of a name stays a value; several become a list. */
export function valuesByName(parameters: Iterable<readonly [name: string, value: string]>): Record<string, unknown> {
  const values = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    if (!RESERVED_PARAMS.has(name)) addTo(values, name, value);
  }
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? all[0] : all]));
}

/**
 * Returns the parsed body; undefined without a body. Policies see the form of a search as parameters, not as a body.
 * @throws UnreadableBody
 */
async function bodyValue(request: Request, slices: Slices): Promise<unknown> {
  const body = bodyOf(request);
  if (body.length === 0 || isSearchForm(request)) return undefined;
  try {
    // A patch is read as JSON whatever its media type says, and a policy must see the same body.
    const json = request.method === 'PATCH' ? body : readJsonBytes(request);
    return (await slices.run(readJsonInSteps(decodeUtf8(json)))).value;
  } catch (error) {
    throw error instanceof ServiceError && error.kind === 'busy' ? error : new UnreadableBody();
  }
}

/**
 * Returns the body as a resource. A type or id that the body lacks is taken from the URL, as when the body is stored.
 */
export function resourceOf(
  { method, type, id: routeId }: { readonly method: string; readonly type?: unknown; readonly id?: unknown },
  body: unknown,
): Resource | undefined {
  if (!isObject(body) || method === 'PATCH') return undefined;
  const { resourceType = type, id = routeId } = body;
  if (typeof resourceType !== 'string') return undefined;
  return { ...body, resourceType, ...(typeof id === 'string' ? { id } : {}) };
}

/** Returns the headers without those that contain credentials. The names are in lower case. */
export const visibleHeaders = (headers: Request['headers']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HIDDEN_HEADERS.has(name)));
