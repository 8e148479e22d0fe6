import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { readJson, type ScannedJson } from '../../platform/json/read-json';
import { bodyOf, mediaTypeOf } from '../../platform/http/raw-request';

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
