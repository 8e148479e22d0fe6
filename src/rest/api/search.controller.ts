import { All, Get, Param, Post, Res } from '@nestjs/common';
import { type Response } from 'express';
import { sendAnswer } from '../../fhir/edge/fhir-answer';
import { ServiceError } from '../../platform/errors/service-error';
import { queryOf } from '../../platform/http/raw-request';
import { OperationId } from '../../platform/http/route-access';
import { ResourceTypes } from '../../model/resource-types';
import { searchFormOf } from './search-form';
import { SearchRequests } from './search-request';
import { ResourceRoutes } from './resource-routes';

/**
 * Search over types and by type (http://hl7.org/fhir/R4/http.html#search). A search is sent with GET, or as a form,
 * which keeps its values out of URLs. Policies decide once for a search over types, as for the history of the server: a
 * grant of it covers every type.
 */
@ResourceRoutes()
export class SearchController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly searches: SearchRequests,
  ) {}

  @Get()
  @OperationId('FhirSearchSystem')
  async overTypes(@Res() response: Response): Promise<void> {
    await sendAnswer(response, await this.searches.answerOverTypes(response.req, queryOf(response.req)));
  }

  @Post('_search')
  @OperationId('FhirSearchSystem')
  async overTypesByForm(@Res() response: Response): Promise<void> {
    await sendAnswer(response, await this.searches.answerOverTypes(response.req, searchFormOf(response.req)));
  }

  /** Refuses other methods of the root. It is registered before the routes of `/:type`, which would match `/fhir`. */
  @All()
  notAllowedOnRoot(): never {
    throw new ServiceError(
      'not-allowed',
      'Send a batch or transaction here with POST, or search over types with GET. Resources are at /{type}/{id}; GET /metadata tells what there is.',
      { allow: ['GET', 'HEAD', 'POST'] },
    );
  }

  @Get(':type')
  @OperationId('FhirSearch')
  async byQuery(@Param('type') type: string, @Res() response: Response): Promise<void> {
    await this.answer(type, queryOf, response);
  }

  @Post(':type/_search')
  @OperationId('FhirSearch')
  async byForm(@Param('type') type: string, @Res() response: Response): Promise<void> {
    await this.answer(type, searchFormOf, response);
  }

  @All(':type/_search')
  notAllowed(@Param('type') type: string): never {
    this.types.assertKnown(type);
    throw new ServiceError('not-allowed', `Search with POST here, or with GET /${type}.`, { allow: ['POST'] });
  }

  private async answer(type: string, read: typeof queryOf, response: Response): Promise<void> {
    const { req } = response;
    this.types.assertKnown(type);
    await sendAnswer(response, await this.searches.answer(req, read(req), { type, path: type, clauses: [] }));
  }
}
