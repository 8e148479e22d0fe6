import { type Request, type RequestHandler } from 'express';
import { ServiceError } from '../errors/service-error';

/**
 * Returns the raw body; an empty Buffer if none was sent.
 * @throws the error of a refused body below `/auth/`, since the route there must send the error (`requestBodies`)
 */
export function bodyOf({ body }: Request): Buffer {
  if (body instanceof Error) throw body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** The query as sent, in order and with repetitions. Values are decoded like those of forms. */
export function queryOf({ url }: Request): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
}

/** The path as sent, also in a handler that is mounted below a path. */
export const sentPathOf = ({ originalUrl }: Request): string => originalUrl.split('?', 1)[0] ?? '';

/** The media type of the body (`type/subtype`) in lower case, without parameters; undefined if none was sent. */
export const mediaTypeOf = ({ headers }: Request): string | undefined =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase();

/** A body without a media type counts as JSON too. */
const JSON_TYPES = new Set([
  undefined,
  'application/json',
  'application/fhir+json',
  'application/json+fhir',
  'text/json',
]);

export const isJson = (request: Request): boolean => JSON_TYPES.has(mediaTypeOf(request));

/**
 * Returns the Authorization header.
 * @throws ServiceError 'invalid' if the header was sent more than once: Node would use only the first one, other
 * software the last one
 */
export function authorizationOf({ headers, headersDistinct }: Request): string | undefined {
  if ((headersDistinct.authorization?.length ?? 0) > 1)
    throw new ServiceError('header-invalid', 'The Authorization header is repeated. Send one.');
  return headers.authorization;
}

/**
 * Refuses a request with several `Host` headers (RFC 9112, section 3.2). Node would use the first one, but a proxy may
 * route and check by the last one.
 */
export const refuseRepeatedHost: RequestHandler = ({ headersDistinct }, _response, next) => {
  if ((headersDistinct.host?.length ?? 0) > 1)
    throw new ServiceError('header-invalid', 'The Host header is repeated. Send one.');
  next();
};
