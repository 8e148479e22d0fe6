import { type EntryAccessRequest } from '../../resource/access/entry-access';
import { valuesByName } from './http-parts';
import { type LazyRequest, type PartSources } from './lazy-request';
import { routeParams } from './route-params';

/** An entry of a request, or the search of another type that a request leads to. */
type Entry = Omit<EntryAccessRequest, 'method'> & { readonly method: EntryAccessRequest['method'] | 'GET' };

export function entryParts(entry: Entry, outer: LazyRequest): PartSources {
  const { method, url, type, id, operationId, rpc, resource } = entry;
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const rpcParams = async (): Promise<object> => ({ ...asObject(await outer.part('params')), _m: rpc?.method });
  const params = (): object => ({
    ...valuesByName(new URLSearchParams(query)),
    ...routeParams({ type, id }),
  });
  return {
    'request-method': () => method.toLowerCase(),
    uri: async () => (rpc === undefined ? `${await rootOf(outer)}/${path}` : outer.part('uri')),
    'query-string': () => (rpc === undefined ? query : outer.part('query-string')),
    params: rpc === undefined ? params : rpcParams,
    resource: rpc === undefined ? resource : () => undefined,
    body: rpc === undefined ? resource : () => rpc,
    operation: () => ({ id: operationId }),
  };
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

/**
 * Returns the root path for the `uri` of an entry: that of the request that contains it. Without a request (background
 * work) it is `/fhir`.
 */
async function rootOf(outer: LazyRequest): Promise<string> {
  const uri = await outer.part('uri');
  return typeof uri !== 'string' || /^\/fhir(\/|$)/.test(uri) ? '/fhir' : '';
}
