import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';

/**
 * The parameters of `POST …/_search`: those of the URL and those of the form (http://hl7.org/fhir/R4/http.html#search).
 * @throws ServiceError 'unsupported-media-type' for another body than a form
 */
export function searchFormOf(request: Request): URLSearchParams {
  const body = bodyOf(request).toString('utf8');
  if (body !== '' && mediaTypeOf(request) !== 'application/x-www-form-urlencoded') {
    throw new ServiceError(
      'unsupported-media-type',
      'Send the search parameters as application/x-www-form-urlencoded.',
    );
  }
  return new URLSearchParams([...queryOf(request), ...new URLSearchParams(body)]);
}
