import { Injectable, Logger } from '@nestjs/common';
import { type ErrorKind } from '../platform/errors/service-error';
import { RequestContext } from '../platform/request/request-context';
import { serviceErrorOf } from '../platform/http/service-error-of';
import { errorTrace } from '../platform/logging/error-trace';
import { RpcRefusal } from './rpc-refusal';

/** The RPC edge: HTTP status of each error kind. A call that is understood but refused is 422, whatever the reason. */
export const RPC_STATUSES: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 422,
  'not-allowed': 405,
  'not-acceptable': 406,
  conflict: 422,
  duplicate: 422,
  gone: 422,
  'precondition-failed': 422,
  'multiple-matches': 422,
  'too-slow': 408,
  'too-large': 413,
  'unsupported-media-type': 415,
  unprocessable: 422,
  throttled: 429,
  busy: 503,
  timeout: 504,
};

export interface RpcFailure {
  readonly status: number;
  /** `{"error": {"message", "type"?, "errors"?}}` */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Turns what was thrown into what the caller of a method is told. */
@Injectable()
export class RpcErrors {
  private readonly logger = new Logger(RpcErrors.name);

  constructor(private readonly requests: RequestContext) {}

  /** What nobody foresaw is logged with its stack and told by the request id and nothing else. */
  failureOf(error: unknown): RpcFailure {
    const known = serviceErrorOf(error);
    if (known === undefined) {
      this.logger.error('A call failed unexpectedly', errorTrace(error));
      const message = `Internal error. Name this request id to the operator: ${this.requests.requestId ?? 'none'}`;
      return { status: 500, text: JSON.stringify({ error: { message } }), headers: {} };
    }
    const { allow, retryAfterSeconds } = known.details;
    return {
      status: RPC_STATUSES[known.kind],
      text: JSON.stringify({ error: { message: known.message, ...(known instanceof RpcRefusal ? known.more : {}) } }),
      headers: {
        ...(allow === undefined ? {} : { Allow: allow.join(', ') }),
        ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
      },
    };
  }
}
