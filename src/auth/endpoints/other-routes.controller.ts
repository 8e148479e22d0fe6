import { All, Controller, Req, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { PublicRoute, TokenIsEnough } from '../../platform/http/route-access';
import { Routes } from '../../platform/http/routes';
import { OAuthErrorFilter } from './oauth-error.filter';

/**
 * Answers requests to `/auth` and `/.well-known` that match no other route; so it is registered last. Without this
 * controller, `/:type/:id` would answer that "auth" is not a resource type (ADR 0007).
 */
@ApiExcludeController()
@Controller()
export class OtherRoutesController {
  constructor(private readonly routes: Routes) {}

  @PublicRoute()
  @UseFilters(OAuthErrorFilter)
  @All(['auth/token', 'auth/introspect', 'auth/revoke'])
  oauth(@Req() request: Request): never {
    throw this.refusalOf(request);
  }

  @TokenIsEnough()
  @All('auth/*path')
  auth(@Req() request: Request): never {
    throw this.refusalOf(request);
  }

  @PublicRoute()
  @All(['.well-known/*path', 'fhir/.well-known/*path'])
  wellKnown(@Req() request: Request): never {
    throw this.refusalOf(request);
  }

  private refusalOf({ method, path }: Request): ServiceError {
    const allow = this.routes.methodsOf(path);
    if (allow.length === 0)
      return new ServiceError('route-unknown', 'There is no such route here; GET /api lists all.');
    return new ServiceError('not-allowed', `${method} is not allowed here; allowed: ${allow.join(', ')}.`, { allow });
  }
}
