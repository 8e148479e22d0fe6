import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/errors/service-error';
import { type Caller } from '../../platform/request/caller';
import { isObject } from '../../platform/json/plain-object';
import { CallerParts, claimsOf } from '../request/caller-parts';
import { resourceOf, valuesByName, visibleHeaders } from '../request/http-parts';
import { LazyRequest } from '../request/lazy-request';
import { routeParams } from '../request/route-params';
import { Roles } from '../roles/roles';
import { routeOf } from './route-of';

/** A described request in the response. */
export interface ShownRequest {
  /** The request as the server understood it, without credentials and without the caller's stored resources. */
  readonly request: object;
  readonly operation: { readonly id: string } | null;
}

/** Makes the request object that policies would see if a request, which a caller only describes, were sent. */
@Injectable()
export class DescribedRequests {
  constructor(
    private readonly callers: CallerParts,
    private readonly roles: Roles,
  ) {}

  /**
   * @param sent the description: `request-method` and `uri`; optionally `headers`, `params`, `body`, `resource`,
   * `session`, `remote-addr`, `scheme`, `operation`, `user-id` and `client-id`
   * @throws ServiceError 'unprocessable'
   */
  of(sent: unknown): { readonly request: LazyRequest; readonly shown: ShownRequest } {
    if (!isObject(sent)) throw fault('request', 'must be an object');
    const method = textMember(sent, 'request-method')?.toLowerCase() ?? 'get';
    const [path = '', query = ''] = (textMember(sent, 'uri') ?? '/').split(/\?(.*)/s);
    if (path.includes('://'))
      throw fault('request.uri', 'must be a path, such as "/fhir/Patient", without scheme and host');
    const headers = headersOf(sent.headers);
    const isConditional = query !== '' || headers['if-none-exist'] !== undefined;
    const route = routeOf(method, path, isConditional);
    const operationId = operationOf(sent.operation) ?? route.operationId;
    const { type, id } = route;
    const rpc = operationId === 'rpc' ? rpcOf(sent.body) : undefined;
    const params = {
      ...valuesByName(new URLSearchParams(query)),
      ...(isObject(sent.params) ? sent.params : {}),
      ...routeParams(route),
      ...(rpc === undefined ? {} : { _m: rpc.method }),
    };
    const seen = {
      'request-method': method,
      scheme: textMember(sent, 'scheme') ?? 'http',
      uri: path,
      'query-string': query,
      params,
      headers: visibleHeaders(headers),
      ...kept(sent, ['body', 'remote-addr']),
      resource: sent.resource ?? resourceOf({ method: method.toUpperCase(), type, id }, sent.body),
    };
    const caller = callerOf(sent);
    const facts = { caller, operationId, ...(rpc === undefined ? {} : { rpc }) };
    const operation = operationId === undefined ? undefined : { id: operationId };
    const request = new LazyRequest(facts, {
      ...Object.fromEntries(Object.entries(seen).map(([part, value]) => [part, () => value])),
      ...this.callers.of(caller, undefined),
      session: async () => ({
        ...(isObject(sent.session) ? sent.session : {}),
        role: await this.roles.of(caller),
      }),
      jwt: () => claimsOf(headers.authorization),
      operation: () => operation,
    });
    const echo = { ...seen, ...kept(sent, ['user-id', 'client-id', 'session']) };
    return { request, shown: { request: echo, operation: operation ?? null } };
  }
}

function callerOf(sent: Readonly<Record<string, unknown>>): Caller {
  const [userId, clientId = ''] = [textMember(sent, 'user-id'), textMember(sent, 'client-id')];
  return { clientId, ...(userId === undefined ? {} : { userId }) };
}

function rpcOf(body: unknown): { readonly method: string; readonly params: unknown } {
  const { method, params } = isObject(body) ? body : {};
  return { method: typeof method === 'string' ? method : '', params };
}

function operationOf(operation: unknown): string | undefined {
  const id = isObject(operation) ? operation.id : undefined;
  return typeof id === 'string' ? id : undefined;
}

function headersOf(headers: unknown): Record<string, string> {
  if (headers === undefined) return {};
  if (!isObject(headers) || !Object.values(headers).every((value) => typeof value === 'string'))
    throw fault('request.headers', 'must be an object of texts');
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function textMember(sent: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = sent[name];
  if (value === undefined || typeof value === 'string') return value;
  throw fault(`request.${name}`, 'must be a text');
}

const kept = (sent: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.filter((name) => sent[name] !== undefined).map((name) => [name, sent[name]]));

const fault = (member: string, reason: string): ServiceError =>
  new ServiceError('unprocessable', `${member} ${reason}.`, { expression: member });
