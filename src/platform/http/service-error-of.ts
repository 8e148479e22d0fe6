import { HttpException } from '@nestjs/common';
import { databaseErrorToServiceError } from '../database/database-error';
import { type ErrorKind, ServiceError } from '../errors/service-error';
import { JsonBodyError } from '../json/json-body-error';

/** The one translation from what was thrown to what a caller may be told; undefined means: tell nothing (500). */
export function serviceErrorOf(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof JsonBodyError) return new ServiceError('invalid', error.message, {}, { cause: error });
  if (error instanceof HttpException) return refusalOf(error.getStatus(), error);
  return bodyParserErrorOf(error) ?? databaseErrorToServiceError(error);
}

/** Refusals of Nest, Express and body-parser, which know a status and no words of ours. */
const REFUSALS: Readonly<Record<number, readonly [kind: ErrorKind, message: string]>> = {
  400: ['invalid', 'The request is not valid HTTP: its URL or its body cannot be read.'],
  404: ['not-found', 'No such route. Resources are at /fhir/{type}/{id}; GET /fhir/metadata tells what there is.'],
  413: ['too-large', 'The request body is larger than this server takes.'],
  415: ['unsupported-media-type', 'The content encoding of the body is not supported; use gzip, deflate, br or none.'],
};

function refusalOf(status: number, cause: Error): ServiceError | undefined {
  const [kind, message] = REFUSALS[status] ?? [];
  return kind === undefined ? undefined : new ServiceError(kind, message ?? '', {}, { cause });
}

/** body-parser's errors carry a status (https://expressjs.com/en/resources/middleware/body-parser.html#errors). */
function bodyParserErrorOf(error: unknown): ServiceError | undefined {
  if (!(error instanceof Error) || !('type' in error) || !('status' in error)) return undefined;
  return typeof error.status === 'number' ? refusalOf(error.status, error) : undefined;
}
