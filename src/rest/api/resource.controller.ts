import { All, Get, Param, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { sendAnswer } from '../../fhir/edge/fhir-answer';
import { ServiceError } from '../../platform/errors/service-error';
import { didYouMean } from '../../platform/text/nearest-code';
import { assertKnownParameters, RESOURCE_PARAMETERS } from '../../platform/http/known-parameters';
import { queryOf } from '../../platform/http/raw-request';
import { OperationId } from '../../platform/http/route-access';
import { assertId } from '../../model/resource-draft';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { ResourceRules } from '../../resource/hooks/resource-rule.registry';
import { ResourceTypes } from '../../model/resource-types';
import { resourceAnswer } from './resource-answer';
import { ResourceRoutes, type RouteParams } from './resource-routes';

/**
 * Reads one resource (http://hl7.org/fhir/R4/http.html#read) on both roots, and refuses requests that match no other
 * route. The routes match any type, so they are registered after all others (ADR 0007).
 */
@ResourceRoutes()
export class ResourceController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly reader: GrantedReader,
    private readonly rules: ResourceRules,
  ) {}

  @Get(':type/:id')
  @OperationId('FhirRead')
  async read(@Param('type') type: string, @Param('id') id: string, @Res() response: Response): Promise<void> {
    this.types.assertKnown(type);
    assertId(id);
    const { req } = response;
    assertKnownParameters('A read', queryOf(req), RESOURCE_PARAMETERS, req.get('prefer'));
    const stored = await this.reader.read(type, id).catch((error: unknown) => {
      throw this.withRoute(error, type, id);
    });
    await sendAnswer(response, resourceAnswer(200, await this.rules.shown(stored)));
  }

  @All([':type', ':type/:id'])
  notAllowed(@Param() { type = '', id }: RouteParams, @Req() { method }: Request): never {
    this.types.assertKnown(type);
    const allow = this.types.allowedMethods(type, id === undefined ? 'type' : 'instance');
    throw new ServiceError('not-allowed', `${method} is not allowed here; allowed: ${allow.join(', ')}.`, { allow });
  }

  /** Adds the route that the caller may mean: `/Patient/history` reads the Patient with the id "history". */
  private withRoute(error: unknown, type: string, id: string): unknown {
    const meant = ['_', '$']
      .map((sign) => `${sign}${id.toLowerCase()}`)
      .find((name) => this.types.routeNames.has(name));
    return meant !== undefined && error instanceof ServiceError && error.kind === 'not-found'
      ? new ServiceError('resource-not-found', `${error.message}${didYouMean(`/${type}/${meant}`)}`)
      : error;
  }
}
