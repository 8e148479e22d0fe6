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

  /** Members of the error beside its message. Default of `type`: the code in the catalogue of errors. */
  readonly more: { readonly type?: string; readonly errors?: readonly ParamError[] };

  constructor(
    message: string,
    members: RpcRefusal['more'] & Pick<ErrorDetails, 'code'> = {},
    kind: 'unprocessable' | 'conflict' = 'unprocessable',
    details: ErrorDetails = {},
  ) {
    const { code, ...more } = members;
    super(kind, message, code === undefined ? details : { ...details, code });
    this.more = more;
  }
}

export const invalidParams = (...errors: readonly ParamError[]): RpcRefusal =>
  new RpcRefusal('Invalid params', { code: 'rpc-params-invalid', errors });
