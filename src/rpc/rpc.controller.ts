import { All, Controller, HttpStatus, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { ServiceError } from '../platform/errors/service-error';
import { type GrantedRows } from '../platform/request/granted-rows';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../platform/http/known-parameters';
import { bodyOf, isJson, queryOf } from '../platform/http/raw-request';
import { DecidedByParts, OperationId } from '../platform/http/route-access';
import { produceOf } from '../platform/http/send-body';
import { decodeUtf8 } from '../platform/json/decode-utf8';
import { elementsOf } from '../platform/json/json-members';
import { type JsonParts } from '../platform/json/json-parts';
import { type ScannedJson, readJsonInSteps } from '../platform/json/read-json';
import { Slices } from '../platform/time/slices';
import { sendJson } from './json-answer';
import { idempotencyKeyOf } from './repeats/idempotency-key';
import { type CallKey } from './repeats/kept-calls';
import { RpcAccess } from './rpc-access';
import { RpcDispatcher } from './rpc-dispatcher';
import { RpcErrors } from './rpc-errors';
import { RpcRefusal } from './rpc-refusal';

/** Maximum number of calls in a batch. They run one after the other in one request. */
export const MAX_BATCH_CALLS = 100;

/** How many characters of a result are read before sending begins. Most results are shorter. */
const EARLY_CHARACTERS = 256 * 1024;

@ApiExcludeController()
@OperationId('rpc')
@UseFilters(RpcErrors)
@Controller('rpc')
export class RpcController {
  constructor(
    private readonly dispatcher: RpcDispatcher,
    private readonly access: RpcAccess,
    private readonly errors: RpcErrors,
    private readonly slices: Slices,
  ) {}

  @Post()
  @DecidedByParts()
  async call(@Req() request: Request, @Res() response: Response): Promise<void> {
    // Clients may repeat the method in `_m`, for logs and proxies.
    const known = ['_m', ...SHAPE_PARAMETERS];
    // `Prefer: handling=lenient` has no effect here: policies of the calls see the query, so none may be ignored.
    assertKnownParameters('/rpc', queryOf(request), known, undefined);
    const { text, value, key } = await this.read(request);
    if (Array.isArray(value)) {
      const grants = await this.access.grantsOf(value.slice(0, MAX_BATCH_CALLS));
      if (value.length > MAX_BATCH_CALLS)
        throw new RpcRefusal(`At most ${MAX_BATCH_CALLS} calls go into one request.`, { code: 'rpc-batch-too-large' });
      await sendJson(response, HttpStatus.OK, produceOf(this.batchText(value, elementsOf(text), grants, key)));
      return;
    }
    const rows = await this.access.grant(value);
    const result = await this.dispatcher.resultOf(value, text, rows, callKeyOf(key, 0));
    const body = typeof result === 'string' ? `{"result":${result}}` : produceOf(resultText(result));
    await sendJson(response, HttpStatus.OK, body);
  }

  @All()
  refuse(): never {
    throw new ServiceError('not-allowed', 'RPC methods are called with POST.', { allow: ['POST'] });
  }

  private async read(request: Request): Promise<ScannedJson & { readonly key: string | undefined }> {
    try {
      if (!isJson(request)) throw new ServiceError('unsupported-media-type', 'Send the call as application/json.');
      const key = idempotencyKeyOf(request.get('idempotency-key'));
      const body = bodyOf(request);
      if (body.length === 0)
        throw new ServiceError('body-missing', 'The body is empty; send a call, such as {"method": "svc/echo"}.');
      return { ...(await this.slices.run(readJsonInSteps(decodeUtf8(body)))), key };
    } catch (error) {
      await this.access.grant();
      throw error;
    }
  }

  /**
   * Yields the response to a batch. A call runs only after the results of the earlier calls are sent, so that no call
   * runs for a client that has disconnected.
   */
  private async *batchText(
    calls: readonly unknown[],
    callTexts: readonly string[],
    grants: readonly (GrantedRows | ServiceError)[],
    key: string | undefined,
  ): AsyncGenerator<string, void, void> {
    let before = '[';
    for (const [index, callText] of callTexts.entries()) {
      yield before;
      yield* this.answerText(calls[index], callText, grants[index] ?? [], callKeyOf(key, index));
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  }

  /**
   * Yields the response to one call of a batch. If the call fails before the first byte of its result is sent, its
   * response is an error. If it fails later, the whole response is cut off.
   */
  private async *answerText(
    call: unknown,
    callText: string,
    grant: GrantedRows | ServiceError,
    key: CallKey | undefined,
  ): AsyncGenerator<string, void, void> {
    let first = '';
    let parts: AsyncGenerator<string, void, void>;
    try {
      if (grant instanceof ServiceError) throw grant;
      parts = resultText(await this.dispatcher.resultOf(call, callText, grant, key));
      for (let isOver = false; !isOver && first.length < EARLY_CHARACTERS;) {
        const { value, done } = await parts.next();
        first += value ?? '';
        isOver = done === true;
      }
    } catch (error) {
      yield this.errors.failureOf(error).text;
      return;
    }
    yield first;
    yield* parts;
  }
}

async function* resultText(result: string | JsonParts): AsyncGenerator<string, void, void> {
  yield '{"result":';
  if (typeof result === 'string') yield result;
  else yield* result.parts;
  yield '}';
}

const callKeyOf = (key: string | undefined, index: number): CallKey | undefined =>
  key === undefined ? undefined : { key, index };
