import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../platform/request/granted-rows';
import { RequestContext } from '../platform/request/request-context';
import { ServiceError } from '../platform/errors/service-error';
import { callHandler, handlerNameOf } from '../platform/discovery/handler-calls';
import { nearestCode } from '../platform/text/nearest-code';
import { JsonParts } from '../platform/json/json-parts';
import { JsonText, jsonTextOf } from '../platform/json/json-text';
import { memberText } from '../platform/json/json-members';
import { checkedParams } from './rpc-params';
import { type RpcCall } from './rpc-method';
import { RpcRefusal } from './rpc-refusal';
import { RpcRegistry } from './rpc.registry';
import { type CallKey, KeptCalls } from './repeats/kept-calls';

@Injectable()
export class RpcDispatcher {
  constructor(
    private readonly registry: RpcRegistry,
    private readonly requests: RequestContext,
    private readonly keptCalls: KeptCalls,
  ) {}

  /**
   * Runs one call, `{"method", "params"}`. Returns its result as JSON text, or as JsonParts for a result that may be
   * too long for memory.
   * @param rows the rows that the call may read and write
   * @param key the Idempotency-Key of the request and the index of the call; a call that writes runs only once for this
   * key
   * @throws ServiceError 'invalid' for a value that is not a call; 'forbidden' for a caller who is limited to some
   * rows, if the method does not enforce rows; RpcRefusal for an unknown method or invalid params; any error of the
   * method
   */
  async resultOf(sent: unknown, callText: string, rows: GrantedRows, key?: CallKey): Promise<string | JsonParts> {
    const { method, params = {} } = (sent ?? {}) as { readonly method?: unknown; readonly params?: unknown };
    if (typeof method !== 'string')
      throw new ServiceError('rpc-call-malformed', 'A call is an object with "method", a string, and "params".');
    const found = this.registry.find(method);
    if (found === undefined) throw this.methodNotFound(method);
    const { meta, handler } = found;
    this.requests.grant(rows);
    if (meta.enforcesRows !== true) this.requests.assertAllRows();
    const checked = await checkedParams(meta.params, handler, params);
    const execute = async (): Promise<JsonParts | JsonText> => {
      const result = await callHandler(handler, () => handler.execute(checked, this.callOf(callText)));
      return result instanceof JsonParts || result instanceof JsonText ? result : jsonOf(handler, result);
    };
    const repeat = async (kept: JsonText): Promise<unknown> => {
      if (handler.repeat !== undefined) return handler.repeat(checked, kept);
      this.requests.assertAllRows();
      return kept;
    };
    const isKept = key !== undefined && meta.writes?.(checked) === true;
    const result = isKept ? await this.keptCalls.once(key, callText, execute, repeat) : await execute();
    return result instanceof JsonParts ? result : jsonTextOf(result);
  }

  private methodNotFound(method: string): RpcRefusal {
    const known = this.registry.all().map(({ meta }) => meta.method);
    const near = nearestCode(method, known);
    const hint = near === undefined ? '' : `. Did you mean "${near}"?`;
    return new RpcRefusal(`Method ${method.slice(0, 100)} not found${hint}`, { code: 'rpc-method-unknown' });
  }

  private callOf(callText: string): RpcCall {
    const paramsText = memberText(callText, 'params') ?? '{}';
    const { caller } = this.requests;
    if (caller === undefined) throw new ServiceError('unauthorized', 'RPC needs credentials.');
    return { caller, paramsText, text: (name) => memberText(paramsText, name) };
  }
}

/** @throws Error that names the method's class, for a result that JSON cannot represent, such as a bigint */
function jsonOf(handler: object, result: unknown): JsonText {
  const refusal = `${handlerNameOf(handler)} returned what JSON cannot hold`;
  try {
    const text = jsonTextOf(result) as string | undefined;
    if (text !== undefined) return new JsonText(text);
  } catch (cause) {
    throw new Error(refusal, { cause });
  }
  throw new Error(refusal);
}
