import { JsonText } from '../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from './rpc-method';

/** Answers its params, digit by digit: shows that a caller gets through. */
@RpcMethod({
  method: 'svc/echo',
  description: 'Answers its params.',
  enforcesRows: true,
  example: { text: 'hello' },
  exampleResult: { text: 'hello' },
})
export class Echo implements RpcHandler<object, JsonText> {
  execute(_params: object, { paramsText }: RpcCall): Promise<JsonText> {
    return Promise.resolve(new JsonText(paramsText));
  }
}
