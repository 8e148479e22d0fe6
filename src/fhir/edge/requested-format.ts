import { type Request } from 'express';
import { bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';
import { type AnswerFormat, type FormatOffer, negotiatedFormat } from './format';

/** The format that a request asks for; undefined when this server cannot write it. */
export const formatOfRequest = (request: Request, offer?: FormatOffer): AnswerFormat | undefined =>
  negotiatedFormat(request.headers.accept, formatParameterOf(request, '_format'), offer);

/** Whether the answer is spread over lines for people (http://hl7.org/fhir/R4/http.html#pretty). */
export const isPretty = (request: Request): boolean => formatParameterOf(request, '_pretty') === 'true';

/** `_format` or `_pretty`. Most requests have neither: a look at the URL tells, without parsing it. The form of a search has them too. */
export function formatParameterOf(request: Request, name: string): string | null {
  if (request.url.includes(name)) return queryOf(request).get(name);
  if (mediaTypeOf(request) !== 'application/x-www-form-urlencoded') return null;
  const body = bodyOf(request);
  return body.includes(name) ? new URLSearchParams(body.toString('utf8')).get(name) : null;
}
