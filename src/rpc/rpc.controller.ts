import { All, Controller, HttpStatus, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { Environment } from '../platform/config/environment';
import { ServiceError } from '../platform/errors/service-error';
import { type GrantedRows } from '../platform/http/granted-rows';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../platform/http/known-parameters';
import { bodyOf, isJson, queryOf } from '../platform/http/raw-request';
import { DecidedByParts, OperationId } from '../platform/http/route-access';
import { streamLimitsOf } from '../platform/http/stream-limits';
import { decodeUtf8 } from '../platform/json/decode-utf8';
import { elementsOf } from '../platform/json/json-members';
import { type JsonParts } from '../platform/json/json-parts';
import { type ScannedJson, readJsonInSteps } from '../platform/json/read-json';
import { Slices } from '../platform/time/slices';
import { sendJson, sendResultParts } from './json-answer';
import { RpcAccess } from './rpc-access';
import { RpcDispatcher } from './rpc-dispatcher';
import { RpcErrorFilter } from './rpc-error.filter';
import { RpcErrors } from './rpc-errors';
import { RpcRefusal } from './rpc-refusal';

/** Calls of one batch run one after the other on one request: the bound keeps it short. */
export const MAX_BATCH_CALLS = 100;
/** The answers of a batch stand in memory together; above this, one that could come in parts is refused. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

@ApiTags('RPC')
@OperationId('rpc')
@UseFilters(RpcErrorFilter)
@Controller('rpc')
export class RpcController {
  constructor(
    private readonly dispatcher: RpcDispatcher,
    private readonly access: RpcAccess,
    private readonly errors: RpcErrors,
    private readonly slices: Slices,
    private readonly environment: Environment,
  ) {}

  @Post()
  @DecidedByParts()
  @ApiOperation({
    summary: 'Calls a method, or several in order',
    description: `The body is {"method", "params"}, or an array of up to ${MAX_BATCH_CALLS} such calls. Each call is a transaction of its own.`,
  })
  @ApiResponse({
    status: HttpStatus.OK,
    description: '{"result"}; of an array: an array of {"result"} or {"error"}, in order.',
  })
  @ApiResponse({
    status: HttpStatus.UNPROCESSABLE_ENTITY,
    description: '{"error": {"message", "type"?, "errors"?}}: the method refuses.',
  })
  async call(@Req() request: Request, @Res() response: Response): Promise<void> {
    // `_m` repeats the method for logs and proxies.
    const known = ['_m', ...SHAPE_PARAMETERS];
    assertKnownParameters('/rpc', queryOf(request), known, request.get('prefer'));
    const { text, value } = await this.read(request);
    if (Array.isArray(value)) {
      sendJson(response, HttpStatus.OK, await this.answersOf(value, elementsOf(text)));
      return;
    }
    const result = await this.dispatcher.resultOf(value, text, await this.access.grant(value));
    if (typeof result === 'string') sendJson(response, HttpStatus.OK, `{"result":${result}}`);
    else await sendResultParts(response, streamLimitsOf(this.environment), result);
  }

  @All()
  @ApiExcludeEndpoint()
  refuse(): never {
    throw new ServiceError('not-allowed', 'RPC methods are called with POST.', { allow: ['POST'] });
  }

  private async read(request: Request): Promise<ScannedJson> {
    try {
      if (!isJson(request)) throw new ServiceError('unsupported-media-type', 'Send the call as application/json.');
      return await this.slices.run(readJsonInSteps(decodeUtf8(bodyOf(request))));
    } catch (error) {
      await this.access.grant();
      throw error;
    }
  }

  private async answerOf(call: unknown, callText: string, rows: GrantedRows, room: number): Promise<string> {
    const result = await this.dispatcher.resultOf(call, callText, rows);
    return `{"result":${typeof result === 'string' ? result : await collected(result, room)}}`;
  }

  private async answersOf(calls: readonly unknown[], callTexts: readonly string[]): Promise<string> {
    const grants = await this.access.grantsOf(calls.slice(0, MAX_BATCH_CALLS));
    if (calls.length > MAX_BATCH_CALLS) throw new RpcRefusal(`At most ${MAX_BATCH_CALLS} calls go into one request.`);
    const answers: string[] = [];
    let room = MOST_CHARACTERS;
    for (const [index, callText] of callTexts.entries()) {
      const grant = grants[index] ?? [];
      const answer =
        grant instanceof ServiceError ? Promise.reject(grant) : this.answerOf(calls[index], callText, grant, room);
      const answerText = await answer.catch((error: unknown) => this.errors.failureOf(error).text);
      room -= answerText.length;
      answers.push(answerText);
    }
    return `[${answers.join(',')}]`;
  }
}

/** @throws RpcRefusal when the parts are longer than `room` */
async function collected({ parts }: JsonParts, room: number): Promise<string> {
  const texts: string[] = [];
  let size = 0;
  for await (const text of parts) {
    size += text.length;
    if (size > room) throw new RpcRefusal('This result is too long to stand among others. Call the method alone.');
    texts.push(text);
  }
  return texts.join('');
}
