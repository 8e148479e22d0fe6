import { type EntryAccessRequest } from '../../resource/access/entry-access';
import { valuesByName } from './http-parts';
import { type LazyRequest, type PartSources } from './lazy-request';
import { routeParams } from './route-params';

/** The parts in which an entry differs from the request that brought it. */
export function entryParts(entry: EntryAccessRequest, outer: LazyRequest): PartSources {
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

/** The parts in which a search of a whole type differs from the request that leads to it. */
export const searchParts = (type: string, outer: LazyRequest): PartSources => ({
  'request-method': () => 'get',
  uri: async () => `${await rootOf(outer)}/${type}`,
  'query-string': () => '',
  params: () => routeParams({ type }),
  resource: () => undefined,
  body: () => undefined,
  operation: () => ({ id: 'FhirSearch' }),
});

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

/** Entries and reached types are decided on the root of their request; for background callers on `/fhir`. */
async function rootOf(outer: LazyRequest): Promise<string> {
  const uri = await outer.part('uri');
  return typeof uri !== 'string' || /^\/fhir(\/|$)/.test(uri) ? '/fhir' : '';
}
