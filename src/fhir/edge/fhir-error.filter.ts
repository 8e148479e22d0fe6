import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { type Response } from 'express';
import { Environment } from '../../platform/config/environment';
import { helpLink } from '../../platform/errors/error-codes';
import { errorCodeOf, type ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { serviceErrorOf } from '../../platform/http/service-error-of';
import { errorTrace } from '../../platform/logging/error-trace';
import { REFUSAL, sendAnswer } from './fhir-answer';
import { FHIR_ERRORS, fatalOutcome, outcomeOf } from './operation-outcome';

/**
 * Answers any error with an OperationOutcome, unless another filter does. An unexpected error is logged with its stack,
 * and the answer contains only a request id.
 */
@Catch()
export class FhirErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(this.constructor.name);

  constructor(
    private readonly requests: RequestContext,
    protected readonly environment: Environment,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    if (response.headersSent) {
      // The connection is cut, so that an incomplete answer never looks complete.
      response.destroy();
      this.logger.error('An answer was cut off', errorTrace(error));
      return;
    }
    const known = this.logged(error);
    if (known !== undefined) {
      response.locals[REFUSAL] = known;
      void sendAnswer(response, {
        status: FHIR_ERRORS[known.kind].status,
        text: JSON.stringify(outcomeOf(known)),
        headers: errorHeaders(known, this.environment),
      });
      return;
    }
    void sendAnswer(response, {
      status: 500,
      text: JSON.stringify(fatalOutcome('exception', 'internal-error', this.internalError)),
      headers: helpLink(this.environment.baseUrl, 'internal-error'),
    });
  }

  /** Logs what only the operator may see. @returns the error for the caller; undefined for an unexpected one */
  protected logged(error: unknown): ServiceError | undefined {
    const known = serviceErrorOf(error);
    if (known === undefined) this.logger.error('A request failed unexpectedly', errorTrace(error));
    else if (known.details.operatorDetail !== undefined) this.logger.warn(known.details.operatorDetail);
    return known;
  }

  /** The message of an unexpected error. */
  protected get internalError(): string {
    return `Internal error. Name this request id to the operator: ${this.requests.requestId ?? 'none'}`;
  }
}

/** The headers of an answer to an error. */
export function errorHeaders(error: ServiceError, { baseUrl }: Environment): Readonly<Record<string, string>> {
  const { allow, acceptPatch, retryAfterSeconds, isInvalidToken } = error.details;
  // RFC 6750, section 3: the challenge names no error if the request had no token.
  const challenge = `Bearer realm="svc"${isInvalidToken === true ? ', error="invalid_token"' : ''}`;
  return {
    ...helpLink(baseUrl, errorCodeOf(error)),
    ...(allow === undefined ? {} : { Allow: allow.join(', ') }),
    ...(acceptPatch === undefined ? {} : { 'Accept-Patch': acceptPatch.join(', ') }),
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
    ...(error.kind === 'unauthorized' ? { 'WWW-Authenticate': challenge } : {}),
  };
}
