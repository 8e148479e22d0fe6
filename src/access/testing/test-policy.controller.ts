import { Controller, HttpCode, HttpStatus, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { OperationId } from '../../platform/http/route-access';
import { Slices } from '../../platform/time/slices';
import { type Resource } from '../../fhir/types';
import { readBodyInSteps } from '../../fhir/edge/resource-request';
import { isObject } from '../../platform/json/plain-object';
import { DescribedRequests } from './described-request';
import { PolicyTest, type PolicyTestResult } from './policy-test';

interface TestPolicyAnswer {
  readonly request: object;
  readonly operation: { readonly id: string } | null;
  readonly policy: Resource;
  readonly result: PolicyTestResult;
}

const EXAMPLE = {
  request: { 'request-method': 'get', uri: '/fhir/Patient/p7', 'user-id': 'admin' },
  policy: { engine: 'matcho', matcho: { 'request-method': 'get', params: { 'resource/type': 'Patient' } } },
};

@ApiTags('Access')
@Controller('auth/test-policy')
export class TestPolicyController {
  constructor(
    private readonly described: DescribedRequests,
    private readonly test: PolicyTest,
    private readonly slices: Slices,
  ) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @OperationId('AuthTestPolicy')
  @ApiOperation({
    summary: 'Tries a policy on a described request',
    description:
      'The body is {"request", "policy"}. `request` has `request-method` and `uri`, and as needed `user-id`, `client-id`, `headers`, `params`, `body`, `session`, `remote-addr`, `operation`. `policy` is a draft, or the id of a stored one. Nothing is called and nothing is stored.',
  })
  @ApiBody({ schema: { type: 'object', example: EXAMPLE } })
  @ApiResponse({
    status: HttpStatus.OK,
    description:
      '{"request", "operation", "policy", "result": {"eval-result", "failed"?: {"path", "reason"}, "criteria"?}}',
  })
  async try(@Req() sent: Request): Promise<TestPolicyAnswer> {
    const { value } = await this.slices.run(readBodyInSteps(sent));
    if (!isObject(value)) throw new ServiceError('unprocessable', 'Send {"request", "policy"}.');
    const policy = await this.test.policyOf(value.policy);
    const { request, echo } = this.described.of(value.request);
    const { operationId } = request;
    return {
      request: echo,
      operation: operationId === undefined ? null : { id: operationId },
      policy,
      result: await this.test.resultOf(policy, request),
    };
  }
}
