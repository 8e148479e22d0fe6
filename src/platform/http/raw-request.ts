import { type Request } from 'express';
import { ServiceError } from '../errors/service-error';

/**
 * The raw body; empty if none was sent.
 * @throws the refusal of a body below `/auth/`, which its route must answer (`requestBodies`)
 */
export function bodyOf({ body }: Request): Buffer {
  if (body instanceof Error) throw body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** The query as sent, in order and with repetitions; values are decoded like forms. */
export function queryOf({ url }: Request): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
}

/** The path as sent, also for a handler that is mounted below a path. */
export const sentPathOf = ({ originalUrl }: Request): string => originalUrl.split('?', 1)[0] ?? '';

/** `type/subtype` of the body in lower case, without parameters; undefined when none was named. */
export const mediaTypeOf = ({ headers }: Request): string | undefined =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase();

/** Media types of JSON; a body without one counts as JSON too. */
const JSON_TYPES = new Set([
  undefined,
  'application/json',
  'application/fhir+json',
  'application/json+fhir',
  'text/json',
]);

export const isJson = (request: Request): boolean => JSON_TYPES.has(mediaTypeOf(request));

/**
 * The Authorization header.
 * @throws ServiceError 'invalid' if it was sent more than once: Node would return only the first, other software the
 * last.
 */
export function authorizationOf({ headers, headersDistinct }: Request): string | undefined {
  if ((headersDistinct.authorization?.length ?? 0) > 1)
    throw new ServiceError('invalid', 'The Authorization header is repeated. Send one.', { code: 'header-invalid' });
  return headers.authorization;
}
