import { Injectable, Logger } from '@nestjs/common';
import { errorHeaders } from '../fhir/edge/fhir-error.filter';
import { FHIR_ERRORS } from '../fhir/edge/operation-outcome';
import { Environment } from '../platform/config/environment';
import { type ErrorCode, helpLink } from '../platform/errors/error-codes';
import { type ErrorKind } from '../platform/errors/error-kind';
import { RequestContext } from '../platform/request/request-context';
import { errorCodeOf } from '../platform/errors/service-error';
import { serviceErrorOf } from '../platform/http/service-error-of';
import { errorTrace } from '../platform/logging/error-trace';
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

@Injectable()
export class RpcErrors {
  private readonly logger = new Logger(RpcErrors.name);

  constructor(
    private readonly requests: RequestContext,
    private readonly environment: Environment,
  ) {}

  /** The response of an error. An unexpected error is logged with its stack; its response has only the request id. */
  failureOf(error: unknown): RpcFailure {
    const known = serviceErrorOf(error);
    if (known === undefined) {
      this.logger.error('A call failed unexpectedly', errorTrace(error));
      const message = `Internal error. Name this request id to the operator: ${this.requests.requestId ?? 'none'}`;
      return {
        status: 500,
        text: JSON.stringify({ error: { message, type: 'internal-error' satisfies ErrorCode } }),
        headers: helpLink(this.environment.baseUrl, 'internal-error'),
      };
    }
    if (known.details.operatorDetail !== undefined) this.logger.warn(known.details.operatorDetail);
    const code = errorCodeOf(known);
    const more = { type: code === BARE ? undefined : code, ...(known instanceof RpcRefusal && known.more) };
    return {
      status: known instanceof RpcRefusal ? FHIR_ERRORS[known.kind].status : rpcStatusOf(known.kind),
      text: JSON.stringify({ error: { message: known.message, ...more } }),
      headers: errorHeaders(known, this.environment),
    };
  }
}
