import { HttpException } from '@nestjs/common';
import { databaseErrorToServiceError } from '../database/database-error';
import { type ErrorKind, ServiceError } from '../errors/service-error';
import { JsonBodyError } from '../json/json-body-error';

/** The one translation from what was thrown to what a caller may be told; undefined means: tell nothing (500). */
export function serviceErrorOf(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof JsonBodyError) return new ServiceError('invalid', error.message, {}, { cause: error });
  // Nest wraps what Express and body-parser throw.
  if (error instanceof HttpException) return refusalOf(error.getStatus(), error.cause);
  return isBodyParserError(error) ? refusalOf(error.status, error) : databaseErrorToServiceError(error);
}

/** body-parser's errors carry a status (https://expressjs.com/en/resources/middleware/body-parser.html#errors). */
function isBodyParserError(error: unknown): error is Error & { readonly status: number } {
  return error instanceof Error && 'type' in error && 'status' in error && typeof error.status === 'number';
}

/** Refusals of Nest, Express and body-parser, which know a status and no words of ours. */
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
  413: (cause) => [
    'too-large',
    `The request body is larger than the ${sizeOf(memberOf(cause, 'limit'))} that this server takes. Send it in parts.`,
  ],
  415: () => [
    'unsupported-media-type',
    'The content encoding of the body is not supported; use gzip, deflate, br or none.',
  ],
};

/** Bodies are not parsed there: what is malformed is the URL, the length of the body or its encoding. */
function malformed(cause: unknown): string {
  if (cause instanceof URIError)
    return 'The URL cannot be decoded: two hexadecimal digits have to follow each "%". Send a "%" itself as %25.';
  if (String(memberOf(cause, 'type')).startsWith('request.'))
    return 'The body is not as long as Content-Length says. Send it again.';
  return 'The body cannot be unpacked: it is not what its Content-Encoding names. Send it as that, or without.';
}

const memberOf = (cause: unknown, name: string): unknown =>
  (cause as Readonly<Record<string, unknown>> | undefined)?.[name];

function sizeOf(bytes: unknown): string {
  if (typeof bytes !== 'number') return 'size';
  const mebibytes = bytes / 1024 / 1024;
  return mebibytes >= 1 ? `${Number(mebibytes.toFixed(1))} MiB` : `${bytes} bytes`;
}
