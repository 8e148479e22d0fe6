import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { type FhirAnswer, sendAnswer } from '../../fhir/fhir-answer';
import { rootUrlOf } from '../../fhir/root-url';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';
import { bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';
import { OperationId } from '../../platform/http/route-access';
import { Clock } from '../../platform/time/clock';
import { ResourceTypes } from '../resource-types';
import { type SearchParameter } from '../search/extract/search-parameter';
import { IncompleteIndexes } from '../search/live/incomplete-indexes';
import { readSearch } from '../search/read-search';
import { ResourceSearch } from '../search/resource-search';
import { isLenient } from '../search/result-parameters';
import { SearchIndex } from '../search/search-index';
import { searchAnswer } from './search-answer';

/** Search by type (http://hl7.org/fhir/R4/search.html), with GET and with a form that keeps values out of URLs. */
@ApiExcludeController()
@Controller(['fhir', ''])
export class SearchController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly index: SearchIndex,
    private readonly search: ResourceSearch,
    private readonly incompleteIndexes: IncompleteIndexes,
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {}

  @Get(':type')
  @OperationId('FhirSearch')
  async byQuery(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    sendAnswer(response, await this.answer(type, queryOf(request), request));
  }

  @Post(':type/_search')
  @OperationId('FhirSearch')
  async byForm(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    const body = bodyOf(request).toString('utf8');
    if (body !== '' && mediaTypeOf(request) !== 'application/x-www-form-urlencoded') {
      throw new ServiceError(
        'unsupported-media-type',
        'Send the search parameters as application/x-www-form-urlencoded.',
      );
    }
    const query = new URLSearchParams([...queryOf(request), ...new URLSearchParams(body)]);
    sendAnswer(response, await this.answer(type, query, request));
  }

  private async answer(type: string, query: URLSearchParams, request: Request): Promise<FhirAnswer> {
    this.types.assertKnown(type);
    const incomplete = new Set<SearchParameter>();
    const scope = {
      type,
      parameters: (await this.index.current()).parameters,
      incomplete,
      baseUrl: this.environment.baseUrl,
      now: this.clock.now().getTime(),
      isLenient: isLenient(request.get('prefer')),
    };
    const { used, ...asked } = readSearch(query, scope);
    const page = await this.search.search(asked);
    const warnings = await this.incompleteIndexes.warningsOf([...incomplete]);
    const rootUrl = rootUrlOf(request, this.environment);
    return { status: 200, text: searchAnswer(page, { rootUrl, path: type, used, position: asked.position }, warnings) };
  }
}
