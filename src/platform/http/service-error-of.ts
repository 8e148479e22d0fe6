import { HttpException } from '@nestjs/common';
import { databaseErrorToServiceError } from '../database/database-error';
import { type ErrorKind, ServiceError } from '../errors/service-error';
import { JsonBodyError } from '../json/json-body-error';

/** The one translation from thrown errors to refusals that a caller may see; undefined means 500 without a reason. */
export function serviceErrorOf(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof JsonBodyError) return new ServiceError('invalid', error.message, {}, { cause: error });
  // Nest wraps what Express throws.
  if (error instanceof HttpException) return frameworkRefusal(error.getStatus(), error.cause);
  return databaseErrorToServiceError(error);
}

/** Refusals of Nest and Express, which know a status and no words of ours. */
function frameworkRefusal(status: number, cause: unknown): ServiceError | undefined {
  const [kind, message] = WORDS[status]?.(cause) ?? [];
  return kind === undefined ? undefined : new ServiceError(kind, message ?? '', {}, { cause });
}

const WORDS: Readonly<Record<number, (cause: unknown) => readonly [kind: ErrorKind, message: string]>> = {
  400: (cause) => ['invalid', malformed(cause)],
  404: () => [
    'not-found',
    'No such route. Resources are at /fhir/{type}/{id}; GET /fhir/metadata tells what there is.',
  ],
};

/** Only the URL can be malformed there: bodies are read by `requestBodies`. */
const malformed = (cause: unknown): string =>
  cause instanceof URIError
    ? 'The URL cannot be decoded: two hexadecimal digits have to follow each "%". Send a "%" itself as %25.'
    : 'The request is malformed.';
