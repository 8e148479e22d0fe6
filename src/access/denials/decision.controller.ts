import { Controller, Get, HttpStatus, Param, Req } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { assertGivenOnce, assertKnownParameters } from '../../platform/http/known-parameters';
import { queryOf } from '../../platform/http/raw-request';
import { OperationId } from '../../platform/http/route-access';
import { DenialLog, type ListedDenial, MAX_LISTED, type StoredDenial } from './denial-log';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const PARAMETERS = ['user', 'client'];

@ApiTags('Access')
@Controller('auth/decisions')
export class DecisionController {
  constructor(private readonly denials: DenialLog) {}

  @Get()
  @OperationId('AuthDecisions')
  @ApiOperation({
    summary: 'Lists the latest denied requests',
    description: `Newest first, at most ${MAX_LISTED}, of the latest day. Each has an id, under which the policies that were tried can be read.`,
  })
  @ApiQuery({ name: 'user', required: false, schema: { type: 'string' }, description: 'Id of the User' })
  @ApiQuery({ name: 'client', required: false, schema: { type: 'string' }, description: 'Id of the Client' })
  @ApiResponse({
    status: HttpStatus.OK,
    description: 'Time and kind of each request, without its values',
    example: {
      decisions: [
        {
          id: '0f8fad5b-d9cb-469f-a165-70867728950e',
          at: '2026-11-23T09:14:07.482Z',
          request: { method: 'get', operation: 'FhirRead', resourceType: 'Patient', user: 'nurse', client: 'try-app' },
        },
      ],
    },
  })
  async list(@Req() request: Request): Promise<{ readonly decisions: readonly ListedDenial[] }> {
    const query = queryOf(request);
    assertKnownParameters('This list', query, PARAMETERS, request.headers.prefer?.toString());
    assertGivenOnce(query, PARAMETERS);
    return { decisions: await this.denials.latest(query.get('user'), query.get('client')) };
  }

  @Get(':id')
  @OperationId('AuthDecision')
  @ApiOperation({
    summary: 'Explains why a request was denied',
    description:
      'The refusal contains the id. Lists the policies that cover the request, in the order of evaluation, and the first clause of each that failed: paths, never values. Kept for a day.',
  })
  @ApiResponse({
    status: HttpStatus.OK,
    description: 'The request, and each policy with its first clause that failed',
    example: {
      id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      at: '2026-11-23T09:14:07.482Z',
      request: { method: 'get', operation: 'FhirRead', resourceType: 'Patient', user: 'nurse', client: 'try-app' },
      policies: [{ id: 'nurses', engine: 'allow', failed: { path: 'roleName', reason: 'No such Role' } }],
    },
  })
  @ApiResponse({ status: HttpStatus.NOT_FOUND, description: 'No such decision, or it was deleted after a day.' })
  async read(@Param('id') id: string): Promise<StoredDenial> {
    const found = UUID.test(id) ? await this.denials.find(id) : undefined;
    if (found === undefined)
      throw new ServiceError('decision-not-found', 'There is no such decision; they are kept for a day.');
    return found;
  }
}
