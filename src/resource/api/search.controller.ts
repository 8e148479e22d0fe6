import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { type FhirAnswer, sendAnswer } from '../../fhir/fhir-answer';
import { rootUrlOf } from '../../fhir/root-url';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';
import { bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';
import { OperationId } from '../../platform/http/route-access';
import { ResourceTypes } from '../resource-types';
import { parseSearch } from '../search/parse-search';
import { ResourceSearch, parsePosition, printPosition } from '../search/resource-search';
import { countOf, isLenient, totalModeOf } from '../search/result-parameters';
import { SearchIndex } from '../search/search-index';
import { bundleText, matchEntry } from './resource-answer';

/** Search by type (http://hl7.org/fhir/R4/search.html), with GET and with a form that keeps values out of URLs. */
@ApiExcludeController()
@Controller(['fhir', ''])
export class SearchController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly index: SearchIndex,
    private readonly search: ResourceSearch,
    private readonly environment: Environment,
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
    const { baseUrl } = this.environment;
    const { clauses, used } = parseSearch(query, {
      type,
      parameters: this.index.parameters,
      baseUrl,
      isLenient: isLenient(request.get('prefer')),
    });
    const count = countOf(query);
    const after = query.get('_after');
    const page = await this.search.search({
      type,
      clauses,
      count,
      total: totalModeOf(query),
      ...(after === null ? {} : { after: parsePosition(after) }),
    });
    const rootUrl = rootUrlOf(request, this.environment);
    const linkTo = (position: string | null): string => {
      const shown = new URLSearchParams();
      for (const [name, value] of used) shown.append(name, value);
      shown.set('_count', String(count));
      const total = query.get('_total');
      if (total !== null) shown.set('_total', total);
      if (position !== null) shown.set('_after', position);
      return `${rootUrl}/${type}?${shown.toString()}`;
    };
    const link = [
      { relation: 'self', url: linkTo(after) },
      ...(page.next === undefined ? [] : [{ relation: 'next', url: linkTo(printPosition(page.next)) }]),
    ];
    const members = { ...(page.total === undefined ? {} : { total: page.total }), link };
    return {
      status: 200,
      text: bundleText(
        'searchset',
        members,
        page.resources.map((resource) => matchEntry(rootUrl, resource)),
      ),
    };
  }
}
