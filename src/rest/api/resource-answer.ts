import { STATUS_CODES } from 'node:http';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { type HistoryVersion } from '../../resource/resource-history';
import { type StoredResource } from '../../model/stored-resource';

/**
 * The answer with one resource and the headers of its version (http://hl7.org/fhir/R4/http.html#versioning).
 * `sendAnswer` then applies the preferences of the caller: `Prefer: return`, `If-None-Match`, `_summary`.
 */
export function resourceAnswer(
  status: number,
  resource: StoredResource,
  headers: Readonly<Record<string, string>> = {},
): FhirAnswer {
  return {
    status,
    text: resource.text,
    headers: { ETag: `W/"${resource.version}"`, 'Last-Modified': resource.updatedAt.toUTCString(), ...headers },
    isResource: true,
    updatedAt: resource.updatedAt,
  };
}

/** The same answer with its headers alone. */
export const withoutResource = ({ text: _text, isResource: _isResource, ...rest }: FhirAnswer): FhirAnswer => rest;

export const locationOf = (rootUrl: string, resource: StoredResource): string =>
  `${rootUrl}/${versionPath(resource, resource.version)}`;

export const versionPath = ({ type, id }: Pick<StoredResource, 'type' | 'id'>, version: number): string =>
  `${type}/${id}/_history/${version}`;

/** The status of a Bundle's entry with its reason phrase, as HL7's examples have it (`201 Created`). */
export const entryStatus = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();

/**
 * Prints an entry of a history Bundle: the request that made the version, and the content. A deletion has no content.
 */
export function historyEntry(rootUrl: string, version: HistoryVersion): string {
  const { type, id, method, isCreation, text } = version;
  const entry = {
    fullUrl: `${rootUrl}/${type}/${id}`,
    request: { method, url: method === 'POST' ? type : `${type}/${id}` },
    response: {
      status: entryStatus(method !== 'DELETE' && isCreation ? 201 : 200),
      etag: `W/"${version.version}"`,
      lastModified: version.updatedAt.toISOString(),
    },
  };
  const head = JSON.stringify(entry).slice(0, -1);
  return text === undefined ? `${head}}` : `${head},"resource":${text}}`;
}
