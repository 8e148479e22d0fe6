import { type Request } from 'express';
import { bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';
import { type AnswerFormat, type FormatOffer, negotiatedFormat } from './format';

/** The requested format; undefined if this server does not support it. */
export const formatOfRequest = (request: Request, offer?: FormatOffer): AnswerFormat | undefined =>
  negotiatedFormat(request.headers.accept, formatParameterOf(request, '_format'), offer);

/** Whether the answer is indented for people (http://hl7.org/fhir/R4/http.html#pretty). */
export const isPretty = (request: Request): boolean => formatParameterOf(request, '_pretty') === 'true';

/**
 * Reads `_format` or `_pretty` from the URL, or from the form of a search. Most requests have neither; a test for the
 * substring shows this without parsing the URL.
 */
export function formatParameterOf(request: Request, name: string): string | null {
  if (request.url.includes(name)) return queryOf(request).get(name);
  if (mediaTypeOf(request) !== 'application/x-www-form-urlencoded') return null;
  const body = bodyOf(request);
  return body.includes(name) ? new URLSearchParams(body.toString('utf8')).get(name) : null;
}
