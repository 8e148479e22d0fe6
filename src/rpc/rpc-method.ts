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
   * Class of the params, with decorators of class-validator. The `params` of the handler have only the members that the
   * class declares; the JSON text of the call has all. Without a class, any object is accepted; this is for handlers
   * that read only the JSON text of the params.
   */
  readonly params?: Type<object>;
  readonly description: string;
  /**
   * Whether the handler enforces the granted rows (`GrantedReader`, `RowLimits`). If not, callers who are limited to
   * some rows are refused.
   */
  readonly enforcesRows?: boolean;
  /**
   * Returns whether a call with these params writes. Such a call with an `Idempotency-Key` runs in one transaction with
   * the row of its key. A repeat with the same key then gets the first result and writes nothing.
   */
  writes?(params: object): boolean;
  /**
   * The param with the resource that a call is about, by which its AuditEvents are found. It holds a reference, a
   * resource or an id. By default it is `target`.
   */
  readonly target?: {
    /** Name of the param, or a path such as `addendum.target`. */
    readonly param?: string;
    /** The type of the resource, if the param does not name it. */
    readonly type?: string;
  };
  /** Example params, for the OpenAPI document. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** The result of the example, for the OpenAPI document. */
  readonly exampleResult?: unknown;
  /** OpenAPI schema of the result; if absent, it is derived from `exampleResult`. */
  readonly resultSchema?: object;
}

/** The parts of a call that a handler may read in addition to the validated params. */
export interface RpcCall {
  readonly caller: Caller;
  /** The params as compact JSON text, with every digit as sent; `{}` if there are none. */
  readonly paramsText: string;
  /** Returns the JSON text of one member of the params; undefined if the member was not sent. */
  text(name: string): string | undefined;
}

/** An RPC method: a class registered by {@link RpcMethod}. */
export interface RpcHandler<Params extends object, Result> {
  /**
   * Returns faults of the params that the params class cannot detect. They are reported together with the faults that
   * the class detects, so `sent` is not validated yet.
   */
  faultsOf?(sent: Readonly<Record<string, unknown>>): readonly ParamError[];

  /**
   * Runs one call and returns its result. A JsonText or JsonParts is sent as it is; any other value is sent by
   * JSON.stringify, undefined as null.
   * @throws ServiceError; an RpcRefusal also gives the caller a code or the invalid members
   */
  execute(params: Params, call: RpcCall): Promise<Result>;

  /**
   * Returns the result for a repeat of a call that wrote, by the rights that the caller has now. Without this method,
   * the kept result is returned, but callers who are limited to some rows are refused.
   * @param kept the result of the first call; if that was a {@link ResultById}, its id
   */
  repeat?(params: Params, kept: JsonText): Promise<Result>;
}

/** A result that is a stored resource which never changes. Only its id, as a JSON string, is kept for repeats. */
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
