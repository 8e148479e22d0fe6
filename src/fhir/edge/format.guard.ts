import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ServiceError } from '../../platform/errors/service-error';
import { type AnswerFormat, formatHint, type FormatOffer } from './format';
import { formatOfRequest, formatParameterOf } from './requested-format';

/** Guard of routes that answer with FHIR. It refuses unsupported formats before any work is done. */
@Injectable()
export class FormatGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    assertAnswerable(context.switchToHttp().getRequest<Request>());
    return true;
  }
}

/**
 * Refuses unsupported formats before any work is done. So no write happens whose answer the caller could not read.
 * @param offer further formats that this answer can have
 * @returns the format of the answer
 * @throws ServiceError 'not-acceptable', or 'invalid' for `_pretty`
 */
export function assertAnswerable(request: Request, offer?: FormatOffer): AnswerFormat {
  if (!['true', 'false', '', null].includes(formatParameterOf(request, '_pretty')))
    throw parameterInvalid('_pretty must be true or false.');
  const format = formatOfRequest(request, offer);
  if (format !== undefined) return format;
  throw new ServiceError(
    'not-acceptable',
    `This server answers in application/fhir+json, application/json or text/json, and as YAML in text/yaml or application/yaml, by FHIR 4.0. Ask by Accept or _format.${formatHint(request, formatParameterOf(request, '_format') ?? request.headers.accept)}`,
  );
}
