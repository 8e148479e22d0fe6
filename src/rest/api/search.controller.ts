import { All, Controller, Get, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { FormatGuard } from '../../fhir/edge/format.guard';
import { sendAnswer } from '../../fhir/edge/fhir-answer';
import { ServiceError } from '../../platform/errors/service-error';
import { queryOf } from '../../platform/http/raw-request';
import { EnforcesRows, OperationId } from '../../platform/http/route-access';
import { ResourceTypes } from '../../model/resource-types';
import { searchFormOf } from './search-form';
import { SearchRequests } from './search-request';

/**
 * Search by type (http://hl7.org/fhir/R4/search.html). The search is sent with GET, or as a form, which keeps its
 * values out of URLs.
 */
@ApiExcludeController()
@UseGuards(FormatGuard)
@EnforcesRows()
@Controller(['fhir', ''])
export class SearchController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly searches: SearchRequests,
  ) {}

  @Get(':type')
  @OperationId('FhirSearch')
  async byQuery(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    this.types.assertKnown(type);
    await sendAnswer(
      response,
      await this.searches.answer(request, queryOf(request), { type, path: type, clauses: [] }),
    );
  }

  @Post(':type/_search')
  @OperationId('FhirSearch')
  async byForm(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    this.types.assertKnown(type);
    const query = searchFormOf(request);
    await sendAnswer(response, await this.searches.answer(request, query, { type, path: type, clauses: [] }));
  }

  @All(':type/_search')
  notAllowed(@Param('type') type: string): never {
    this.types.assertKnown(type);
    throw new ServiceError('not-allowed', `Search with POST here, or with GET /${type}.`, { allow: ['POST'] });
  }
}
