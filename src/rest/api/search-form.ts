import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { assertUtf8 } from '../../platform/http/encoded-text';
import { bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';

/**
 * Maximum size of the form of a search. It is enough for thousands of values of a hundred characters. A larger form
 * would take long to parse, and the parser cannot pause.
 */
const LARGEST_FORM_BYTES = 1_048_576;

/**
 * The parameters of `POST …/_search`: those in the URL and those in the form (http://hl7.org/fhir/R4/http.html#search).
 * @throws ServiceError 'unsupported-media-type' if the body is no form, 'too-large' above 1 MiB,
 *   'invalid' if its escapes are no UTF-8
 */
export function searchFormOf(request: Request): URLSearchParams {
  const bytes = bodyOf(request);
  if (bytes.length > LARGEST_FORM_BYTES)
    throw new ServiceError(
      'body-too-large',
      'The form of a search is larger than 1 MiB. Ask for fewer values at once.',
    );
  const body = bytes.toString('utf8');
  if (body !== '' && mediaTypeOf(request) !== 'application/x-www-form-urlencoded')
    throw new ServiceError(
      'unsupported-media-type',
      'Send the search parameters as application/x-www-form-urlencoded.',
    );
  assertUtf8('The form', body);
  return new URLSearchParams([...queryOf(request), ...new URLSearchParams(body)]);
}
