import { HttpException } from '@nestjs/common';
import { databaseErrorToServiceError } from '../database/database-error';
import { ServiceError } from '../errors/service-error';

/** The one conversion of thrown errors to errors for callers. If undefined, the caller gets 500 without a reason. */
export function serviceErrorOf(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  // Nest wraps errors of Express.
  if (error instanceof HttpException) return frameworkRefusal(error.getStatus(), error.cause);
  return databaseErrorToServiceError(error);
}

/** An error of Nest or Express has a status, but no text for callers. */
function frameworkRefusal(status: number, cause: unknown): ServiceError | undefined {
  if (status === 400) return new ServiceError('url-malformed', malformed(cause), {}, { cause });
  if (status === 404) return new ServiceError('route-unknown', NO_ROUTE, {}, { cause });
  return undefined;
}

const NO_ROUTE = 'No such route. Resources are at /fhir/{type}/{id}; GET /fhir/metadata lists the types.';

/** Only the URL can be malformed here, since `requestBodies` reads the bodies. */
const malformed = (cause: unknown): string =>
  cause instanceof URIError
    ? 'The URL cannot be decoded: two hexadecimal digits have to follow each "%", and the bytes have to be UTF-8. Send a "%" itself as %25.'
    : 'The request is malformed.';
