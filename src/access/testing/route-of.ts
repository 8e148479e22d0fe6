import { operationIdOfCode } from '../../platform/http/route-access';
import { memberOf } from '../../platform/json/plain-object';
import { WRITE_IDS } from '../../resource/access/entry-access';
import { type RouteValues } from '../request/route-params';

/** The route that a request would reach, as far as policies distinguish routes. */
interface DescribedRoute extends RouteValues {
  readonly operationId: string | undefined;
}

const TYPE = '(?<type>[A-Z][A-Za-z]*)';
const ID = '(?<id>[^/]+)';

/** Matches a path without slashes around it, which may begin with `fhir`. */
const below = (path: string): RegExp => new RegExp(`^(?:fhir(?:/|$))?${path}$`);

/** The operation ids of the writes of an existing resource: by id (0), or by criteria (1). */
const writeIds = (by: 0 | 1): Readonly<Record<string, string>> => ({
  put: WRITE_IDS.PUT[by],
  patch: WRITE_IDS.PATCH[by],
  delete: WRITE_IDS.DELETE[by],
});

/** Paths with the operation id of their route: one for all methods, or one for each method. The first match counts. */
const ROUTES: readonly (readonly [path: RegExp, operationId: string | Readonly<Record<string, string>>])[] = [
  [/^rpc$/, 'rpc'],
  [below(''), { get: 'FhirSearchSystem', post: 'FhirBundle' }],
  [below('_search'), { post: 'FhirSearchSystem' }],
  [below('_history'), 'FhirHistorySystem'],
  [below(`(?:${TYPE}/(?:${ID}/)?)?\\$(?<code>[\\w-]+)`), {}],
  [below(TYPE), { get: 'FhirSearch', post: WRITE_IDS.POST[0], ...writeIds(1) }],
  [below(`${TYPE}/_search`), { post: 'FhirSearch' }],
  [below(`${TYPE}/_history`), 'FhirHistoryType'],
  [below(`${TYPE}/${ID}`), { get: 'FhirRead', ...writeIds(0) }],
  [below(`${TYPE}/${ID}/_history`), 'FhirHistory'],
  [below(`${TYPE}/${ID}/_history/[^/]+`), 'FhirVread'],
  [below(`(?<compartment>[A-Z][A-Za-z]*)/${ID}/(?<type>[^/]+)`), 'FhirCompartmentSearch'],
  [below(`${TYPE}/${ID}/.+`), {}],
];

/**
 * Derives the route from the method and path of a described request. No route is called.
 * @param method the method in lower case
 * @param isConditional whether a create has criteria (a conditional create)
 */
export function routeOf(method: string, uri: string, isConditional = false): DescribedRoute {
  const path = uri.replace(/\/+/g, '/').replace(/^\/|\/$/g, '');
  for (const [pattern, ids] of ROUTES) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const { type, id, compartment, code } = match.groups ?? {};
    if (code !== undefined) return { type, id, operationId: operationIdOfCode(code) };
    const named = typeof ids === 'string' ? ids : memberOf(ids, method === 'head' ? 'get' : method);
    const isConditionalCreate = isConditional && named === WRITE_IDS.POST[0];
    return {
      type,
      id,
      compartment,
      operationId: isConditionalCreate ? WRITE_IDS.POST[1] : (named as string | undefined),
    };
  }
  return { operationId: undefined };
}
