import { type ArgumentsHost, Catch, HttpException } from '@nestjs/common';
import { type Response } from 'express';
import { FhirErrorFilter } from '../fhir/edge/fhir-error.filter';
import { Environment } from '../platform/config/environment';
import { RequestContext } from '../platform/request/request-context';
import { serviceErrorOf } from '../platform/http/service-error-of';
import { sendJson } from './json-answer';
import { RpcErrors } from './rpc-errors';

/** Sends errors in the form of RPC. Denials are sent as an OperationOutcome, as on every other route. */
@Catch()
export class RpcErrorFilter extends FhirErrorFilter {
  constructor(
    requests: RequestContext,
    environment: Environment,
    private readonly errors: RpcErrors,
  ) {
    super(requests, environment);
  }

  override catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const kind = serviceErrorOf(error)?.kind;
    const isDenied = kind === 'unauthorized' || kind === 'forbidden' || kind === 'throttled';
    if (isDenied || error instanceof HttpException || response.headersSent) {
      super.catch(error, host);
      return;
    }
    const { status, text, headers } = this.errors.failureOf(error);
    void sendJson(response, status, text, headers);
  }
}
