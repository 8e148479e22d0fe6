import { Controller, Get, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { FormatGuard } from '../../fhir/edge/format.guard';
import { sendAnswer } from '../../fhir/edge/fhir-answer';
import { queryOf } from '../../platform/http/raw-request';
import { EnforcesRows, OperationId } from '../../platform/http/route-access';
import { searchFormOf } from './search-form';
import { SearchRequests } from './search-request';

/**
 * Search over types (http://hl7.org/fhir/R4/http.html#search, "all resource types"), with GET or as a form. Policies
 * decide once for the whole search, as for the history of the server. A grant of the search covers every type.
 */
@ApiExcludeController()
@UseGuards(FormatGuard)
@EnforcesRows()
@Controller(['fhir', ''])
export class TypesSearchController {
  constructor(private readonly searches: SearchRequests) {}

  @Get()
  @OperationId('FhirSearchSystem')
  async byQuery(@Req() request: Request, @Res() response: Response): Promise<void> {
    await sendAnswer(response, await this.searches.answerOverTypes(request, queryOf(request)));
  }

  @Post('_search')
  @OperationId('FhirSearchSystem')
  async byForm(@Req() request: Request, @Res() response: Response): Promise<void> {
    await sendAnswer(response, await this.searches.answerOverTypes(request, searchFormOf(request)));
  }
}
