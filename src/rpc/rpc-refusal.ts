import { type ErrorDetails, ServiceError } from '../platform/errors/service-error';

/** A member of the params that is at fault. */
export interface ParamError {
  /** Keys from the params down: `["target", "id"]`. */
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * A refusal that carries what only the RPC edge can tell: a short code, and the members at fault.
 * @example
 * throw new RpcRefusal('Invalid params', { errors: [{ path: ['ward'], message: 'There is no ward 4Z.' }] });
 */
export class RpcRefusal extends ServiceError {
  override readonly name = 'RpcRefusal';

  constructor(
    message: string,
    readonly more: { readonly type?: string; readonly errors?: readonly ParamError[] } = {},
    kind: 'unprocessable' | 'conflict' = 'unprocessable',
    details: ErrorDetails = {},
  ) {
    super(kind, message, details);
  }
}

export const invalidParams = (...errors: readonly ParamError[]): RpcRefusal =>
  new RpcRefusal('Invalid params', { errors });
