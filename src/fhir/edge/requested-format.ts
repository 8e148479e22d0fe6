import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';
import { xmlHint } from '../unserved';
import { type AnswerFormat, type FormatOffer, negotiatedFormat } from './format';

/** The format that a request asks for; undefined when this server cannot write it. */
export const formatOfRequest = (request: Request, offer?: FormatOffer): AnswerFormat | undefined =>
  negotiatedFormat(request.headers.accept, parameterOf(request, '_format'), offer);

/** Parameters of the answer alone: every FHIR route takes them, whatever else it is asked. */
export const FORMAT_PARAMETERS: readonly string[] = ['_format', '_pretty'];

/** Whether the answer is spread over lines for people (http://hl7.org/fhir/R4/http.html#pretty). */
export const isPretty = (request: Request): boolean => parameterOf(request, '_pretty') === 'true';

/**
 * Refuses what cannot be answered as asked, before anything is done: no write happens whose answer nobody could read.
 * @param offer what the answer can be written in besides
 * @returns what it will be written in
 * @throws ServiceError 'not-acceptable', or 'invalid' for `_pretty`
 */
export function assertAnswerable(request: Request, offer?: FormatOffer): AnswerFormat {
  if (!['true', 'false', '', null].includes(parameterOf(request, '_pretty'))) {
    throw new ServiceError('invalid', '_pretty must be true or false.');
  }
  const format = formatOfRequest(request, offer);
  if (format !== undefined) return format;
  throw new ServiceError(
    'not-acceptable',
    `This server answers in application/fhir+json, application/json or text/json, and as YAML in text/yaml or application/yaml, by FHIR 4.0. Ask by Accept or _format.${xmlHint(parameterOf(request, '_format') ?? request.headers.accept)}`,
  );
}

/** Most requests have neither parameter: a look at the URL tells, without parsing it. The form of a search has them too. */
function parameterOf(request: Request, name: string): string | null {
  if (request.url.includes(name)) return queryOf(request).get(name);
  if (mediaTypeOf(request) !== 'application/x-www-form-urlencoded') return null;
  const body = bodyOf(request);
  return body.includes(name) ? new URLSearchParams(body.toString('utf8')).get(name) : null;
}
