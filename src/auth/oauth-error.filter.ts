import { type ArgumentsHost, Catch, type ExceptionFilter, HttpStatus, Logger } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { FHIR_ERRORS } from '../fhir/operation-outcome';
import { RequestContext } from '../platform/http/request-context';
import { serviceErrorOf } from '../platform/http/service-error-of';
import { OAuthError } from './oauth-error';

/** The edge of the token endpoint: `{error, error_description}` of RFC 6749, section 5.2. */
@Catch()
export class OAuthErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('TokenEndpoint');

  constructor(private readonly requests: RequestContext) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Pragma', 'no-cache');
    if (error instanceof OAuthError) {
      this.logger.warn({ event: 'token refused', error: error.code, detail: error.operatorDetail });
      // RFC 6749, section 5.2: a client that tried the Authorization header is told the scheme.
      if (error.status === 401 && http.getRequest<Request>().headers.authorization !== undefined) {
        response.setHeader('WWW-Authenticate', 'Basic realm="svc"');
      }
      response.status(error.status).json({ error: error.code, error_description: error.description });
      return;
    }
    const known = serviceErrorOf(error);
    if (known === undefined) {
      this.logger.error('A token request failed unexpectedly', error instanceof Error ? error.stack : undefined);
      response.status(HttpStatus.INTERNAL_SERVER_ERROR).json({
        error: 'server_error',
        error_description: `Internal error. Name this request id to the operator: ${this.requests.requestId ?? 'none'}`,
      });
      return;
    }
    const { allow, retryAfterSeconds } = known.details;
    if (allow !== undefined) response.setHeader('Allow', allow.join(', '));
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
    const status = FHIR_ERRORS[known.kind].status;
    response.status(status).json({ error: codeOf(status), error_description: known.message });
  }
}

/** RFC 8628, section 3.5, has the registered code for "ask less often"; the other two are those of RFC 6749. */
function codeOf(status: number): string {
  if (status === 429) return 'slow_down';
  return status >= 500 ? 'temporarily_unavailable' : 'invalid_request';
}
