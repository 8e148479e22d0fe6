import { Controller, HttpCode, HttpStatus, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { readBodyInSteps } from '../../fhir/edge/resource-request';
import { type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { OperationId } from '../../platform/http/route-access';
import { isObject } from '../../platform/json/plain-object';
import { Slices } from '../../platform/time/slices';
import { DescribedRequests, type ShownRequest } from './described-request';
import { PolicyTest, type PolicyTestResult } from './policy-test';
import { RequestTest, type RequestTestResult } from './request-test';

interface TestPolicyAnswer extends ShownRequest {
  readonly policy: Resource;
  readonly result: PolicyTestResult;
}

const EXAMPLE = { request: { 'request-method': 'get', uri: '/fhir/Patient/p7', 'user-id': 'admin' } };

const POLICY = { engine: 'matcho', matcho: { 'request-method': 'get', params: { 'resource/type': 'Patient' } } };

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
@Controller('auth')
export class AccessTestController {
  constructor(
    private readonly described: DescribedRequests,
    private readonly policies: PolicyTest,
    private readonly requests: RequestTest,
    private readonly slices: Slices,
  ) {}

  @Post('test-policy')
  @HttpCode(HttpStatus.OK)
  @OperationId('AuthTestPolicy')
  @ApiOperation({
    summary: 'Tries a policy on a described request',
    description:
      'The body is {"request", "policy"}. `request` has `request-method` and `uri`, and as needed `user-id`, `client-id`, `headers`, `params`, `body`, `session`, `remote-addr`, `operation`. `policy` is a draft, or the id of a stored one. Nothing is called and nothing is stored.',
  })
  @ApiBody({ schema: { type: 'object', example: { ...EXAMPLE, policy: POLICY } } })
  @ApiResponse({
    status: HttpStatus.OK,
    description:
      '{"request", "operation", "policy", "result": {"eval-result", "failed"?: {"path", "reason"}, "criteria"?}}',
  })
  async tryPolicy(@Req() sent: Request): Promise<TestPolicyAnswer> {
    const body = await this.bodyOf(sent, '{"request", "policy"}');
    const policy = await this.policies.policyOf(body.policy);
    const { request, shown } = this.described.of(body.request);
    return { ...shown, policy, result: await this.policies.resultOf(policy, request) };
  }

  @Post('test-request')
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
  async tryRequest(@Req() sent: Request): Promise<ShownRequest & RequestTestResult> {
    const body = await this.bodyOf(sent, '{"request"}');
    const { request, shown } = this.described.of(body.request);
    const { userId, clientId } = request.caller;
    if (userId === undefined && clientId === '')
      throw new ServiceError('unprocessable', 'request names no caller: add user-id, or client-id of a Client.', {
        expression: 'request',
      });
    return { ...shown, ...(await this.requests.resultOf(request)) };
  }

  private async bodyOf(sent: Request, members: string): Promise<Readonly<Record<string, unknown>>> {
    const { value } = await this.slices.run(readBodyInSteps(sent));
    if (isObject(value)) return value;
    throw new ServiceError('unprocessable', `Send ${members}.`);
  }
}
