import { All, Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { ServiceError } from '../errors/service-error';
import { PublicRoute } from '../http/route-access';
import { Drain } from './drain';
import { type Health, HealthCheck, healthOf } from './health-check';

@ApiTags('Server')
@Controller('health')
export class HealthController {
  constructor(
    private readonly check: HealthCheck,
    private readonly drain: Drain,
  ) {}

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
    sendHealth(response, await this.check.run());
  }

  @PublicRoute()
  @Get('live')
  @ApiOperation({
    security: [],
    summary: 'Tells whether the process answers',
    description: 'For a supervisor that restarts it. The database is not asked, since a restart would not mend it.',
  })
  @ApiResponse({ status: HttpStatus.OK, description: '`status` is `pass`.' })
  live(@Res() response: Response): void {
    sendHealth(response, healthOf('pass', 'The process answers.'));
  }

  @PublicRoute()
  @Get('ready')
  @ApiOperation({
    security: [],
    summary: 'Tells whether the server should get requests',
    description: 'For proxies and load balancers: as `/health`, and it also fails from the signal to stop on.',
  })
  @ApiResponse({ status: HttpStatus.OK, description: '`status` is `pass`, or `warn` while the database is slow.' })
  @ApiResponse({
    status: HttpStatus.SERVICE_UNAVAILABLE,
    description: '`status` is `fail`: the server stops, or the database cannot be reached.',
  })
  async ready(@Res() response: Response): Promise<void> {
    sendHealth(response, this.drain.isReady ? await this.check.run() : healthOf('fail', 'The server stops.'));
  }

  @PublicRoute()
  @All(['', 'live', 'ready'])
  @ApiExcludeEndpoint()
  notAllowed(): never {
    throw new ServiceError('not-allowed', 'Health is read with GET.', { allow: ['GET', 'HEAD'] });
  }
}

function sendHealth(response: Response, health: Health): void {
  response.status(health.status === 'fail' ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.OK);
  response.type('application/health+json').send(JSON.stringify(health));
}
