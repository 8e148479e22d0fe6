import { type ArgumentsHost, Catch, HttpException } from '@nestjs/common';
import { type Response } from 'express';
import { errorHeaders, FhirErrorFilter } from '../fhir/edge/fhir-error.filter';
import { FHIR_ERRORS } from '../fhir/edge/operation-outcome';
import { type ErrorCode, helpLink } from '../platform/errors/error-codes';
import { type ErrorKind } from '../platform/errors/error-kind';
import { errorCodeOf } from '../platform/errors/service-error';
import { serviceErrorOf } from '../platform/http/service-error-of';
import { sendJson } from './json-answer';
import { RpcRefusal } from './rpc-refusal';

/** Error kinds of a resource that a call refers to. RPC sends 422 for them, since the route itself exists. */
const REFUSALS = new Set<ErrorKind>([
  ...(['not-found', 'conflict', 'duplicate', 'gone', 'precondition-failed', 'multiple-matches'] as const),
]);

/** The HTTP status of an error kind: 422 for the kinds in REFUSALS, else that of the FHIR API. */
export const rpcStatusOf = (kind: ErrorKind): number => FHIR_ERRORS[REFUSALS.has(kind) ? 'unprocessable' : kind].status;

/** The error code whose response has no `type`: the interface specification defines the whole body of this error. */
const BARE: ErrorCode = 'target-not-found';

export interface RpcFailure {
  readonly status: number;
  /** The body of the response: `{"error": {"message", "type"?, "errors"?}}` */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends errors in the form of RPC. Denials are sent as an OperationOutcome, as on every other route. */
@Catch()
export class RpcErrors extends FhirErrorFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const kind = serviceErrorOf(error)?.kind;
    const isDenied = kind === 'unauthorized' || kind === 'forbidden' || kind === 'throttled';
    if (isDenied || error instanceof HttpException || response.headersSent) {
      super.catch(error, host);
      return;
    }
    const { status, text, headers } = this.failureOf(error);
    void sendJson(response, status, text, headers);
  }

  /** The response to an error, or its part in the response to a batch. The error is logged if it is unexpected. */
  failureOf(error: unknown): RpcFailure {
    const known = this.logged(error);
    if (known === undefined)
      return {
        status: 500,
        text: JSON.stringify({ error: { message: this.internalError, type: 'internal-error' satisfies ErrorCode } }),
        headers: helpLink(this.environment.baseUrl, 'internal-error'),
      };
    const code = errorCodeOf(known);
    const more = { type: code === BARE ? undefined : code, ...(known instanceof RpcRefusal && known.more) };
    return {
      status: known instanceof RpcRefusal ? FHIR_ERRORS[known.kind].status : rpcStatusOf(known.kind),
      text: JSON.stringify({ error: { message: known.message, ...more } }),
      headers: errorHeaders(known, this.environment),
    };
  }
}
