import { All, Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { ServiceError } from '../errors/service-error';
import { PublicRoute } from '../http/route-access';
import { HealthCheck } from './health-check';

@ApiTags('Server')
@Controller('health')
export class HealthController {
  constructor(private readonly check: HealthCheck) {}

  @PublicRoute()
  @Get()
  @ApiOperation({
    security: [],
    summary: 'Tells whether the server can answer',
    description: 'Shape of the health+json draft (draft-inadarei-api-health-check).',
  })
  @ApiResponse({ status: HttpStatus.OK, description: '`status` is `pass`, or `warn` while the database is slow.' })
  @ApiResponse({
    status: HttpStatus.SERVICE_UNAVAILABLE,
    description: '`status` is `fail`: the database cannot be reached, or is a standby.',
  })
  async health(@Res() response: Response): Promise<void> {
    const health = await this.check.run();
    response.status(health.status === 'fail' ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.OK);
    response.type('application/health+json').send(JSON.stringify(health));
  }

  @PublicRoute()
  @All()
  @ApiExcludeEndpoint()
  notAllowed(): never {
    throw new ServiceError('not-allowed', 'Health is read with GET.', { allow: ['GET', 'HEAD'] });
  }
}
