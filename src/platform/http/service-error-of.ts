import { HttpException } from '@nestjs/common';
import { databaseErrorToServiceError } from '../database/database-error';
import { type ErrorKind, ServiceError } from '../errors/service-error';
import { JsonBodyError } from '../json/json-body-error';

/** The one translation from what was thrown to what a caller may be told; undefined means: tell nothing (500). */
export function serviceErrorOf(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof JsonBodyError) return new ServiceError('invalid', error.message, {}, { cause: error });
  // Nest wraps what Express throws.
  if (error instanceof HttpException) return refusalOf(error.getStatus(), error.cause);
  return databaseErrorToServiceError(error);
}

/** Refusals of Nest and Express, which know a status and no words of ours. */
function refusalOf(status: number, cause: unknown): ServiceError | undefined {
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

/** What is malformed there is the URL: bodies are read by `requestBodies`. */
const malformed = (cause: unknown): string =>
  cause instanceof URIError
    ? 'The URL cannot be decoded: two hexadecimal digits have to follow each "%". Send a "%" itself as %25.'
    : 'The request is malformed.';
