import { type Request } from 'express';
import { bodyOf, mediaTypeOf, queryOf } from '../platform/http/raw-request';
import { isFhirId } from '../fhir/reference';
import { withoutSecrets } from './query-secrets';

/**
 * The FHIR interaction of a request, such as `read` or `operation`
 * (http://hl7.org/fhir/R4/valueset-type-restful-interaction.html).
 */
export interface Interaction {
  readonly code: string;
  readonly action: 'C' | 'R' | 'U' | 'D' | 'E';
  readonly type?: string | undefined;
  readonly id?: string | undefined;
  readonly operation?: string;
  readonly query?: { readonly text: string; readonly values: URLSearchParams } | undefined;
}

const BY_METHOD: Readonly<Record<string, readonly [code: string, action: Interaction['action']]>> = {
  GET: ['read', 'R'],
  HEAD: ['read', 'R'],
  POST: ['create', 'C'],
  PUT: ['update', 'U'],
  PATCH: ['patch', 'U'],
  DELETE: ['delete', 'D'],
};

/**
 * Derives the interaction of a request from its matched route.
 * @param isType whether a text is a resource type; another type in the path is left out
 */
export function interactionOf(request: Request, isType: (text: string) => boolean): Interaction {
  const route = routeOf(request);
  if (route === undefined) return { code: 'operation', action: 'E', operation: 'no such route' };
  const { type: named, compartment, id, code = '' } = request.params as Record<string, string | undefined>;
  const type = compartment ?? named;
  const target = type === undefined || !isType(type) ? {} : { type, id: isFhirId(id ?? '') ? id : undefined };
  if (route.endsWith(':code')) {
    const operation = `$${/^[\w-]{1,64}$/.test(code) ? code : ''}`;
    return { code: 'operation', action: 'E', ...target, operation, query: sentQuery(request) };
  }
  if (
    route.endsWith('_search') ||
    route === ':compartment/:id/:type' ||
    (isGet(request) && (route === ':type' || route === ''))
  )
    return {
      code: type === undefined ? 'search-system' : 'search-type',
      action: 'E',
      ...target,
      query: sentQuery(request),
    };
  if (route.endsWith('_history')) {
    const scope = id !== undefined ? 'instance' : type !== undefined ? 'type' : 'system';
    return { code: `history-${scope}`, action: 'R', ...target, query: sentQuery(request) };
  }
  if (route.endsWith(':version')) return { code: 'vread', action: 'R', ...target };
  if (route === '') return { code: 'batch', action: 'E' };
  const [method, action] = BY_METHOD[request.method] ?? ['operation', 'E'];
  if (named !== undefined) return { code: method, action, ...target, query: sentQuery(request) };
  return { code: 'operation', action: 'E', operation: route };
}

const isGet = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';

/** Returns the pattern of the matched route, without `/fhir`. */
function routeOf(request: Request): string | undefined {
  const { path } = (request.route ?? {}) as { readonly path?: unknown };
  return typeof path !== 'string' ? undefined : path.replace(/^\/(?:fhir(?:\/|$))?/, '').replace(/\/$/, '');
}

/** The body of a form search counts like a query string. */
function sentQuery(request: Request): Interaction['query'] {
  const form = mediaTypeOf(request) === 'application/x-www-form-urlencoded' ? bodyOf(request).toString('utf8') : '';
  const start = request.originalUrl.indexOf('?');
  const sent = start === -1 ? '' : request.originalUrl.slice(start + 1);
  const text = [sent, form]
    .filter((part) => part !== '')
    .join('&')
    .slice(0, MAX_QUERY_CHARACTERS);
  if (text === '') return undefined;
  return { text: withoutSecrets(text), values: form === '' ? queryOf(request) : new URLSearchParams(text) };
}

const MAX_QUERY_CHARACTERS = 4096;
