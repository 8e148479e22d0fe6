import { JsonText } from '../platform/json/json-text';
import { type RpcCall, type RpcHandler, RpcMethod } from './rpc-method';

/** Returns its params with every digit as sent. A caller can test with it that it reaches the server. */
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
