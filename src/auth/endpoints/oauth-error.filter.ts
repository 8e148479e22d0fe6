import { type ArgumentsHost, Catch, type ExceptionFilter, HttpStatus, Logger } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { FHIR_ERRORS } from '../../fhir/edge/operation-outcome';
import { type ErrorCode, errorPageOf } from '../../platform/errors/error-codes';
import { errorCodeOf, type ServiceError } from '../../platform/errors/service-error';
import { Environment } from '../../platform/config/environment';
import { RequestContext } from '../../platform/request/request-context';
import { serviceErrorOf } from '../../platform/http/service-error-of';
import { errorTrace } from '../../platform/logging/error-trace';
import { forbidStoring } from '../oauth/oauth-answer';
import { OAuthError } from '../oauth/oauth-error';

/**
 * Error filter of the OAuth endpoints. The caller receives `{error, error_description, error_uri}` (RFC 6749, section
 * 5.2). The operator gets a log line with the request id and the precise cause.
 */
@Catch()
export class OAuthErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('OAuth');

  constructor(
    private readonly requests: RequestContext,
    private readonly environment: Environment,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = forbidStoring(http.getResponse<Response>());
    if (error instanceof OAuthError) {
      this.refuse(error, request, response);
      return;
    }
    const known = serviceErrorOf(error);
    if (known !== undefined) {
      this.answer(known, request, response);
      return;
    }
    this.logger.error('A request to an OAuth endpoint failed', errorTrace(error));
    const description = `Internal error. Name this request id to the operator: ${this.requests.requestId ?? 'none'}`;
    this.send(response, HttpStatus.INTERNAL_SERVER_ERROR, 'server_error', description, 'internal-error');
  }

  private refuse(error: OAuthError, request: Request, response: Response): void {
    this.log(request, error.code, error.operatorDetail, error.clientId);
    // If the request had an Authorization header, a 401 must name the authentication scheme (RFC 6749, section 5.2).
    if (error.status === 401 && request.headers.authorization !== undefined) {
      response.setHeader('WWW-Authenticate', 'Basic realm="svc"');
    }
    this.send(response, error.status, error.code, error.description, error.cataloged);
  }

  private answer(error: ServiceError, request: Request, response: Response): void {
    const { kind, message, details } = error;
    const { allow, retryAfterSeconds, isInvalidToken, operatorDetail = message } = details;
    this.log(request, kind, operatorDetail);
    if (allow !== undefined) response.setHeader('Allow', allow.join(', '));
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
    if (isInvalidToken === true) response.setHeader('WWW-Authenticate', 'Bearer realm="svc", error="invalid_token"');
    const { status } = FHIR_ERRORS[kind];
    this.send(response, status, CODES[status] ?? codeOf(status), message, errorCodeOf(error));
  }

  private send(response: Response, status: number, error: string, description: string, code: ErrorCode): void {
    const error_uri = errorPageOf(this.environment.baseUrl, code);
    response.status(status).json({ error, error_description: description, error_uri });
  }

  private log({ path }: Request, error: string, detail: string, named?: string): void {
    const { caller, claimed } = this.requests;
    const clientId = named ?? caller?.clientId ?? claimed?.clientId;
    this.logger.warn({ event: 'OAuth request refused', path, error, detail, ...(clientId && { clientId }) });
  }
}

/**
 * OAuth error codes by HTTP status. 401 and 403 have the codes of RFC 6750, section 3.1, for callers with a token. 429
 * has the registered code `slow_down` (RFC 8628, section 3.5). With `invalid_grant`, clients would ask their user for
 * another password.
 */
const CODES: Readonly<Record<number, string>> = { 401: 'invalid_token', 403: 'insufficient_scope', 429: 'slow_down' };

const codeOf = (status: number): string => (status >= 500 ? 'temporarily_unavailable' : 'invalid_request');
