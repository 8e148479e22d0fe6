import { type ErrorDetails, ServiceError } from '../platform/errors/service-error';

/** A member of the params with a fault. */
export interface ParamError {
  /** Keys from the params down: `["target", "id"]`. */
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * A refusal with details that only RPC responses have: a short code, and the members with faults.
 * @example
 * throw new RpcRefusal('Invalid params', { errors: [{ path: ['ward'], message: 'There is no ward 4Z.' }] });
 */
export class RpcRefusal extends ServiceError {
  override readonly name = 'RpcRefusal';

  /** Members of the error in addition to its message. Default of `type`: the code in the catalogue of errors. */
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
