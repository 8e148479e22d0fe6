import { All, Controller, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { type FhirAnswer, sendAnswer } from '../fhir/edge/fhir-answer';
import { type FormatOffer } from '../fhir/edge/format';
import { assertAnswerable } from '../fhir/edge/format.guard';
import { readJsonBytes } from '../fhir/edge/resource-request';
import { rootUrlOf } from '../fhir/edge/root-url';
import { Environment } from '../platform/config/environment';
import { callHandler } from '../platform/discovery/handler-calls';
import { ServiceError } from '../platform/errors/service-error';
import { queryOf } from '../platform/http/raw-request';
import { RequestContext } from '../platform/request/request-context';
import { EnforcesRows, OperationId, operationIdOfCode } from '../platform/http/route-access';
import { assertId } from '../model/resource-draft';
import { ANY_TYPE, type OperationDefinition, type OperationRequest } from './operation';
import { OperationRegistry, operationKey } from './operation.registry';
import { unknownOperation } from './unknown-operation';

/**
 * Path patterns of operations, with `$` and `%24`: some clients percent-encode the dollar sign, and Express compares
 * the raw path.
 */
const PATHS = [':type/:id/', ':type/', ''].flatMap((prefix) => [`${prefix}$:code`, `${prefix}%24:code`]);

/** The routes `/$op`, `/Type/$op` and `/Type/id/$op`, with and without `/fhir` in front. */
@ApiExcludeController()
@EnforcesRows() // each operation declares by itself whether it enforces rows
@OperationId(({ params }) => operationIdOfCode(String(params.code)))
@Controller(['fhir', ''])
export class OperationController {
  constructor(
    private readonly registry: OperationRegistry,
    private readonly requests: RequestContext,
    private readonly environment: Environment,
  ) {}

  @All(PATHS)
  async execute(
    @Param() { type, id, code = '' }: Partial<Record<string, string>>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (id !== undefined) assertId(id);
    const found = this.find(code, type, id);
    if (found === undefined)
      throw unknownOperation(
        code,
        this.registry.all().map((one) => one.meta),
      );
    const { handler, meta } = found;
    const { methods } = meta;
    const method = methods.find((known) => known === request.method || (known === 'GET' && request.method === 'HEAD'));
    if (method === undefined)
      throw new ServiceError('not-allowed', `$${code} is called with ${methods.join(' or ')}.`, { allow: methods });
    if (meta.enforcesRows !== true) this.requests.assertAllRows();
    const format = assertAnswerable(request, offerOf(meta));
    const sent: OperationRequest = {
      method,
      ...(type === undefined ? {} : { type }),
      ...(id === undefined ? {} : { id }),
      query: queryOf(request),
      body: readJsonBytes(request),
      headers: request.headers as Record<string, string | undefined>,
      rootUrl: rootUrlOf(request, this.environment),
      format,
    };
    await sendAnswer(response, await callHandler(handler, () => handler.execute(sent), isAnswer));
  }

  private find(code: string, type: string | undefined, id: string | undefined): ReturnType<OperationRegistry['find']> {
    if (type === undefined) return this.registry.find(operationKey('system', code));
    const level = id === undefined ? 'type' : 'instance';
    const ofAny = this.registry.find(operationKey(level, code, ANY_TYPE));
    return this.registry.find(operationKey(level, code, type)) ?? ofAny;
  }
}

function offerOf({ hasLines, hasPage }: OperationDefinition): FormatOffer | undefined {
  if (hasLines === true) return 'lines';
  return hasPage === true ? 'page' : undefined;
}

/**
 * Whether a handler returned a valid answer. At run time, a handler of another team may return any value. The JSON text
 * is not parsed, since that would cost as much as making it.
 */
function isAnswer(answer: FhirAnswer | undefined): boolean {
  const { status = 0, text, produce } = answer ?? {};
  const isStatus = Number.isInteger(status) && status >= 200 && status < 600;
  return (
    isStatus && ['string', 'undefined'].includes(typeof text) && ['function', 'undefined'].includes(typeof produce)
  );
}
