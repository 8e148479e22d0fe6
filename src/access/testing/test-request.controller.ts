import { Controller, HttpCode, HttpStatus, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { isObject } from '../../platform/json/plain-object';
import { OperationId } from '../../platform/http/route-access';
import { Slices } from '../../platform/time/slices';
import { readBodyInSteps } from '../../fhir/edge/resource-request';
import { DescribedRequests } from './described-request';
import { RequestTest, type RequestTestResult } from './request-test';

interface TestRequestAnswer extends RequestTestResult {
  readonly request: object;
  readonly operation: { readonly id: string } | null;
}

const EXAMPLE = { request: { 'request-method': 'get', uri: '/fhir/Patient/p7', 'user-id': 'admin' } };

const ANSWER = {
  request: {
    'request-method': 'get',
    scheme: 'http',
    uri: '/fhir/Patient/p7',
    'query-string': '',
    params: { 'resource/type': 'Patient', 'resource/id': 'p7' },
    headers: {},
    'user-id': 'ana',
  },
  operation: { id: 'FhirRead' },
  decision: { granted: true, rows: 'some', 'finds-resource': false, 'is-stored': true },
  policies: [
    {
      id: 'observations',
      engine: 'matcho',
      link: [{ resourceType: 'User', id: 'ana' }],
      result: {
        'eval-result': false,
        failed: { path: 'matcho.params.resource/type', reason: 'must be "Observation"' },
      },
    },
    {
      id: 'ward-clinicians',
      engine: 'allow',
      roleName: 'clinician',
      result: {
        'eval-result': true,
        criteria: ['Patient?_id={{user.data.patient}}'],
        'finds-resource': false,
        reason: 'its id is p7, not p1',
      },
    },
  ],
  note: 'Patient/p7 is stored, but ward-clinicians does not grant it: its id is p7, not p1. So the User "ana" gets the answer for a resource that is not stored.',
};

@ApiTags('Access')
@Controller('auth/test-request')
export class TestRequestController {
  constructor(
    private readonly described: DescribedRequests,
    private readonly test: RequestTest,
    private readonly slices: Slices,
  ) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @OperationId('AuthTestRequest')
  @ApiOperation({
    summary: 'Tries all policies of a caller on a described request',
    description:
      'The body is {"request"}, with `user-id` or `client-id` and the other members of /auth/test-policy. Lists the stored policies that cover the request, in the order of evaluation, with the first clause of each that failed; of a grant with criteria, also whether they find the resource that the request names, and what it has instead. Whether that is stored, and its values, are shown only to callers who may read it. Nothing is called and nothing is stored.',
  })
  @ApiBody({ schema: { type: 'object', example: EXAMPLE } })
  @ApiResponse({
    status: HttpStatus.OK,
    description: 'The request as understood, the decision, and each policy with its result; at most 100 policies',
    example: ANSWER,
  })
  async try(@Req() sent: Request): Promise<TestRequestAnswer> {
    const { value } = await this.slices.run(readBodyInSteps(sent));
    if (!isObject(value)) throw new ServiceError('unprocessable', 'Send {"request"}.');
    const { request, echo } = this.described.of(value.request);
    const { userId, clientId } = request.caller;
    if (userId === undefined && clientId === '')
      throw new ServiceError('unprocessable', 'request names no caller: add user-id, or client-id of a Client.', {
        expression: 'request',
      });
    const { operationId } = request;
    return {
      request: echo,
      operation: operationId === undefined ? null : { id: operationId },
      ...(await this.test.resultOf(request)),
    };
  }
}
