import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { UPDATED_AT } from '../../fhir/edge/fhir-answer';
import { type InnerAnswer, InnerRequests } from '../../platform/http/inner-requests';
import { ResourceTypes } from '../../model/resource-types';
import { type BundleEntry, type BundleCall } from './bundle';
import { relativeUrl } from './entry-action';
import { type AnsweredEntry } from './entry-answer';
import { faultAt } from './entry-faults';
import { entryBodyOf } from './entry-body';

/** Sends each entry to the route that answers it alone, so rights, checks, messages and answers are the same. */
@Injectable()
export class EntryRoutes {
  constructor(
    private readonly inner: InnerRequests,
    private readonly types: ResourceTypes,
    private readonly environment: Environment,
  ) {}

  /**
   * @param mostCharacters maximum size of the answer
   * @throws ServiceError if the entry is no request to the resource API
   */
  send({ request, resource }: BundleEntry, call: BundleCall, mostCharacters: number): Promise<InnerAnswer> {
    const url = relativeUrl(request.url, this.environment.baseUrl);
    this.assertWithinApi(url);
    if (!/^[A-Z]+$/.test(request.method))
      throw faultAt('request.method', 'request.method is no method of HTTP. Use GET, POST, PUT, PATCH or DELETE.');
    if (request.method === 'HEAD')
      throw faultAt('request.method', 'HEAD has no place in a Bundle: use GET.', 'not-allowed');
    const { mediaType, body } = entryBodyOf(request.method, resource);
    const headers = {
      authorization: call.authorization,
      prefer: call.prefer,
      'content-type': mediaType,
      'if-match': request.ifMatch,
      'if-none-match': request.ifNoneMatch,
      'if-modified-since': request.ifModifiedSince,
      // A header is ASCII, but the member of a Bundle may have any letter.
      'if-none-exist': request.ifNoneExist?.replaceAll(/[^\p{ASCII}]+/gu, encodeURIComponent),
    };
    return this.inner.send({
      method: request.method,
      url: `${call.root}/${url}`,
      headers: Object.fromEntries(
        Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined),
      ),
      ...(body === undefined ? {} : { body }),
      mostCharacters,
    });
  }

  /**
   * Refuses requests for tokens, RPC calls and nested Bundles. It allows paths that begin with a type or an operation,
   * and those of the whole API.
   */
  private assertWithinApi(url: string): void {
    if (url.includes('#')) throw faultAt('request.url', 'request.url has a "#", which no request has. Leave it out.');
    const [first = ''] = url.split(/[/?]/);
    if (/^\$[\w-]+$/.test(first) || first === 'metadata' || first === '_history' || url.startsWith('?')) return;
    if (!/^[A-Z][A-Za-z]*$/.test(first))
      throw faultAt(
        'request.url',
        'request.url is no request to the resource API. It takes Type, Type/id, Type?criteria, $operation and what follows them.',
      );
    this.types.assertKnown(first);
  }
}

export function answeredEntry(
  { request }: BundleEntry,
  { status, headers, text, locals }: Omit<InnerAnswer, 'refusal'>,
): AnsweredEntry {
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    status,
    text,
    isRead: request.method === 'GET',
    location: header('location'),
    etag: header('etag'),
    lastModified: (locals[UPDATED_AT] as Date | undefined)?.toISOString(),
  };
}
