import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { readJson, type ScannedJson } from '../../platform/json/read-json';
import { bodyOf, mediaTypeOf } from '../../platform/http/raw-request';
import { type WriteOptions } from '../resource-writer';

const JSON_TYPES = new Set([undefined, 'application/json', 'application/fhir+json', 'application/json+fhir']);

/**
 * Reads a request body as JSON text.
 * @throws ServiceError 'unsupported-media-type' for anything that is not JSON; JsonBodyError for hostile or broken text.
 */
export function readBody(request: Request): ScannedJson {
  return readJson(readBodyText(request));
}

/** As {@link readBody}, but the text is not scanned yet. */
export function readBodyText(request: Request): string {
  if (!JSON_TYPES.has(mediaTypeOf(request))) {
    throw new ServiceError('unsupported-media-type', 'Send the resource as application/fhir+json or application/json.');
  }
  const body = bodyOf(request);
  if (body.length === 0) throw new ServiceError('invalid', 'The body is empty; send a resource as JSON.');
  return decodeUtf8(body);
}

/**
 * Reads `If-Match` (RFC 9110, section 13.1.1): `W/"2"`, `"2"`, a bare `2`, a list of these, or `*`.
 * @throws ServiceError 'invalid' for anything else.
 */
export function ifMatchOf({ headers }: Request): Pick<WriteOptions, 'ifMatch'> {
  const header = headers['if-match']?.trim();
  if (header === undefined) return {};
  if (header === '*') return { ifMatch: '*' };
  return { ifMatch: header.split(',').map((tag) => versionOf(tag.trim())) };
}

function versionOf(tag: string): number {
  const version = /^(?:W\/)?"?(\d{1,9})"?$/.exec(tag)?.[1];
  if (version === undefined) throw new ServiceError('invalid', 'If-Match must hold a version such as W/"2".');
  return Number(version);
}
