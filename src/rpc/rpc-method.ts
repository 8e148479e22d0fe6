import { type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { JsonText } from '../platform/json/json-text';
import { type Caller } from '../platform/request/caller';
import { type ParamError } from './rpc-refusal';

/** Name, params and documentation of an RPC method. */
export interface RpcMethodDefinition {
  /** The name that callers send, with its namespace: `svc.sdc.addendum/add-note`. */
  readonly method: string;
  /**
   * Class of the params, with decorators of class-validator. Members that it does not declare never reach the handler.
   * Without a class any object is accepted, for a handler that reads only the text.
   */
  readonly params?: Type<object>;
  readonly description: string;
  /**
   * Whether the handler enforces the granted rows (`GrantedReader`, `RowLimits`). If not, callers who are limited to
   * some rows are refused.
   */
  readonly enforcesRows?: boolean;
  /**
   * Whether a call with these params writes. A repeat with the same `Idempotency-Key` then gets the first result and
   * writes nothing. Such a call runs in one transaction with the row of its key.
   */
  writes?(params: object): boolean;
  /** Params that the OpenAPI document shows. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** The answer to the example, for the OpenAPI document. */
  readonly exampleResult?: unknown;
  /** OpenAPI schema of the result; if absent, it is derived from `exampleResult`. */
  readonly resultSchema?: object;
}

/** Parts of a call that a handler may read in addition to the checked params. */
export interface RpcCall {
  readonly caller: Caller;
  /** The params as compact JSON text, every digit as sent; `{}` if there are none. */
  readonly paramsText: string;
  /** The JSON text of one member of the params; undefined when it was not sent. */
  text(name: string): string | undefined;
}

/** One RPC method: a class of its own, registered by {@link RpcMethod}. */
export interface RpcHandler<Params extends object, Result> {
  /**
   * Returns faults of the params that their class cannot detect. They are reported together with those of the class, so
   * the params passed here are not checked yet.
   */
  faultsOf?(sent: Readonly<Record<string, unknown>>): readonly ParamError[];

  /**
   * Answers one call. The result is a value for JSON.stringify, or a JsonText or JsonParts that are sent as they are;
   * undefined is answered as null.
   * @throws ServiceError; an RpcRefusal tells the caller a code or the members at fault too.
   */
  execute(params: Params, call: RpcCall): Promise<Result>;

  /**
   * Answers a repeat of a call that wrote, with the rights that the caller has now. Without this method the kept result
   * is returned, and callers who are limited to some rows are refused.
   * @param kept the result of the first call; its id if that was a {@link ResultById}
   */
  repeat?(params: Params, kept: JsonText): Promise<Result>;
}

/** A result that is a stored resource and never changes: only its id, as a JSON string, is kept for repeats. */
export class ResultById extends JsonText {
  constructor(
    text: string,
    readonly id: string,
  ) {
    super(text);
  }
}

/**
 * Registers an {@link RpcHandler}.
 * @example
 * &#64;Injectable()
 * &#64;RpcMethod({ method: 'acme/ping', description: 'Returns pong.', enforcesRows: true })
 * export class Ping implements RpcHandler<object, string> {
 *   execute(): Promise<string> {
 *     return Promise.resolve('pong');
 *   }
 * }
 */
export const RpcMethod = DiscoveryService.createDecorator<RpcMethodDefinition>();
