import { type EntryAccessRequest } from '../../resource/access/entry-access';
import { resourceOf, valuesByName } from './http-parts';
import { type LazyRequest, type PartSources } from './lazy-request';
import { routeParams } from './route-params';

/**
 * Returns the parts of the request object for a part of a request, such as an entry of a Bundle, a call of an RPC
 * method, or a search of another type that a chain causes.
 */
export function entryParts(entry: EntryAccessRequest, outer: LazyRequest): PartSources {
  const { method, url, type, id, operationId, rpc, body } = entry;
  const named: PartSources = { 'request-method': () => method.toLowerCase(), operation: () => ({ id: operationId }) };
  if (rpc !== undefined) {
    const params = async (): Promise<object> => ({ ...asObject(await outer.part('params')), _m: rpc.method });
    return { params, resource: () => undefined, body: () => rpc, ...named };
  }
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  return {
    uri: async () => `${await rootOf(outer)}/${path}`,
    'query-string': () => query,
    params: () => ({ ...valuesByName(new URLSearchParams(query)), ...routeParams({ type, id }) }),
    resource: () => resourceOf({ method, type, id }, body()),
    body,
    ...named,
  };
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

/** The root path of the request that contains the entry; in background work it is `/fhir`. */
async function rootOf(outer: LazyRequest): Promise<string> {
  const uri = await outer.part('uri');
  return typeof uri !== 'string' || /^\/fhir(\/|$)/.test(uri) ? '/fhir' : '';
}
