import { type ErrorDetails, ServiceError } from '../platform/errors/service-error';

export interface ParamError {
  /** The path of the member in the params: `["target", "id"]`. */
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * An error with details that only RPC responses have: a short code, and the invalid members.
 * @example
 * throw new RpcRefusal('Invalid params', { errors: [{ path: ['ward'], message: 'There is no ward 4Z.' }] });
 */
export class RpcRefusal extends ServiceError {
  override readonly name = 'RpcRefusal';

  /** Members of the error in addition to its message. The default of `type` is the code in docs/reference/errors.md. */
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
