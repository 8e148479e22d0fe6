import { type WriteConditions } from '../../resource/writes/write';
import { ENTRY_TAGS, preconditionsOf } from '../conditional/entity-tags';
import { criteriaText } from '../../search/parse/criteria-query';
import { assertId } from '../../model/resource-draft';
import { type BundleEntry } from './bundle';
import { faultAt } from './entry-faults';

type WriteVerb = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface WriteAction {
  readonly verb: WriteVerb;
  readonly type: string;
  readonly id?: string;
  /** The criteria that select the resource to write, in the URL or in `ifNoneExist`; absent if there are none. */
  readonly criteria?: string;
  readonly options: WriteConditions;
}

/**
 * Reads the write that a transaction's entry requests (http://hl7.org/fhir/R4/http.html#transaction).
 * @returns undefined for a read
 * @throws ServiceError 'invalid' or 'not-allowed' with an expression below the entry
 */
export function writeActionOf({ request, resource }: BundleEntry, baseUrl: string): WriteAction | undefined {
  const [path = '', ...rest] = relativeUrl(request.url, baseUrl).split('?');
  const query = rest.length === 0 ? undefined : rest.join('?');
  const [type = '', id, ...more] = path.split('/');
  if (path.includes('$'))
    throw faultAt(
      'request.url',
      'Operations are not part of a transaction: call them by themselves, or in a batch.',
      'not-allowed',
    );
  if (request.method === 'GET') return undefined;
  if (!Object.hasOwn(TARGETS, request.method))
    throw faultAt('request.method', 'request.method must be GET, POST, PUT, PATCH or DELETE.', 'not-allowed');
  const verb = request.method as WriteVerb;
  const noTarget = `request.url is no target of ${verb}: it takes ${TARGETS[verb]}.`;
  if (type === '' || more.length > 0 || (verb === 'POST' && id !== undefined)) throw faultAt('request.url', noTarget);
  if (resource === undefined && verb !== 'DELETE')
    throw faultAt('resource', `${verb} needs a resource. Add it to the entry, beside request.`);
  if (query !== undefined && request.ifNoneExist !== undefined)
    throw faultAt('request.ifNoneExist', 'Send the criteria in request.ifNoneExist or in the URL, not in both.');
  const criteria = verb === 'POST' ? (request.ifNoneExist ?? query) : query;
  const action = { verb, type, options: preconditionsOf(request, ENTRY_TAGS) };
  if (id !== undefined) {
    if (query !== undefined) throw faultAt('request.url', 'request.url has an id and criteria: only one can decide.');
    assertId(id);
    return { ...action, id };
  }
  // Policies must see the parameters that are searched: a type before them would hide the first one.
  if (criteria !== undefined) return { ...action, criteria: criteriaText(type, criteria) };
  if (verb !== 'POST') throw faultAt('request.url', noTarget);
  return action;
}

const TARGETS: Readonly<Record<WriteVerb, string>> = {
  POST: 'a type',
  PUT: 'Type/id or Type?criteria',
  PATCH: 'Type/id or Type?criteria',
  DELETE: 'Type/id or Type?criteria',
};

/**
 * Reads the URL of a request, which is relative, a path of either root, or below the server's base URL.
 * @throws ServiceError 'invalid' for a URL of another server
 */
export function relativeUrl(url: string, baseUrl: string): string {
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(url);
  if (isAbsolute && !url.startsWith(`${baseUrl}/`))
    throw faultAt('request.url', `request.url is not below ${baseUrl}. Make it relative, such as Patient/p7.`);
  const path = isAbsolute ? url.slice(baseUrl.length) : url;
  // Without the lookbehind, each slash of a long row would be tried as its beginning, in quadratic time.
  return path.replace(/^\/*(fhir(?![^/?]))?\/*/, '').replace(/(?<!\/)\/+(?=\?|$)/, '');
}
