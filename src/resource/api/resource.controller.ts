import { All, Controller, Delete, Get, Param, Post, Put, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { sendAnswer } from '../../fhir/fhir-answer';
import { FormatGuard } from '../../fhir/format.guard';
import { rootUrlOf } from '../../fhir/root-url';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';
import { assertKnownParameters, RESOURCE_PARAMETERS } from '../../platform/http/known-parameters';
import { queryOf } from '../../platform/http/raw-request';
import { EnforcesRows, OperationId } from '../../platform/http/route-access';
import { ConditionalWriter } from '../conditional/conditional-writer';
import { assertId } from '../resource-draft';
import { GrantedReader } from '../rows/granted-reader';
import { ResourceTypes } from '../resource-types';
import { ResourceWriter } from '../resource-writer';
import { createCriteriaOf, isConditionalCreate, isNoContent } from './criteria-request';
import { IsolationGuard } from './isolation.guard';
import { locationOf, resourceAnswer } from './resource-answer';
import { ShownResources } from './shown-resources';
import { WriteRequests } from './write-requests';

/**
 * Create, read, update and delete (http://hl7.org/fhir/R4/http.html) on both roots.
 * The routes are open to any type, so they come after all others (ADR 0007).
 */
@ApiExcludeController()
@UseGuards(FormatGuard, IsolationGuard)
@EnforcesRows()
@Controller(['fhir', ''])
export class ResourceController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly reader: GrantedReader,
    private readonly writer: ResourceWriter,
    private readonly conditional: ConditionalWriter,
    private readonly requests: WriteRequests,
    private readonly shown: ShownResources,
    private readonly environment: Environment,
  ) {}

  @Get(':type/:id')
  @OperationId('FhirRead')
  async read(@Param('type') type: string, @Param('id') id: string, @Res() response: Response): Promise<void> {
    this.types.assertKnown(type);
    assertId(id);
    const { req } = response;
    assertKnownParameters('A read', queryOf(req), RESOURCE_PARAMETERS, req.get('prefer'));
    await sendAnswer(response, resourceAnswer(200, await this.shown.of(await this.reader.read(type, id))));
  }

  @Post(':type')
  @OperationId(
    (request) => (isConditionalCreate(request) ? 'FhirConditionalCreate' : 'FhirCreate'),
    ['FhirConditionalCreate', 'FhirCreate'],
  )
  async create(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    this.types.assertWritable(type, 'create', 'type');
    const draft = await this.requests.draftOf(request, type);
    const criteria = createCriteriaOf(request);
    const options = await this.requests.createOptions();
    const { outcome, resource } =
      criteria === undefined
        ? { outcome: 'created', resource: await this.writer.create(draft, options) }
        : await this.conditional.create(draft, criteria, options);
    const location = locationOf(this.rootUrl(request), resource);
    const headers = { Location: location, ...(outcome === 'created' ? {} : { 'Content-Location': location }) };
    await sendAnswer(
      response,
      resourceAnswer(outcome === 'created' ? 201 : 200, await this.shown.of(resource), headers),
    );
  }

  @Put(':type/:id')
  @OperationId('FhirUpdate')
  async update(
    @Param('type') type: string,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    this.requests.assertById('update', type, id, request);
    const draft = await this.requests.draftOf(request, type, id);
    const { outcome, resource } = await this.writer.put(draft, id, await this.requests.optionsOf(request));
    const headers = outcome === 'created' ? { Location: locationOf(this.rootUrl(request), resource) } : {};
    await sendAnswer(
      response,
      resourceAnswer(outcome === 'created' ? 201 : 200, await this.shown.of(resource), headers),
    );
  }

  @Delete(':type/:id')
  @OperationId('FhirDelete')
  async delete(
    @Param('type') type: string,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    this.requests.assertById('delete', type, id, request);
    const hasContent = !isNoContent(request);
    const deleted = await this.writer.delete(type, id, await this.requests.optionsOf(request));
    const isShown = deleted !== undefined && hasContent;
    await sendAnswer(response, isShown ? resourceAnswer(200, deleted) : { status: 204 });
  }

  @All(':type')
  typeMethodNotAllowed(@Param('type') type: string, @Req() { method }: Request): never {
    this.types.assertKnown(type);
    throw notAllowed(method, this.types.allowedMethods(type, 'type'));
  }

  @All(':type/:id')
  instanceMethodNotAllowed(@Param('type') type: string, @Req() { method }: Request): never {
    this.types.assertKnown(type);
    throw notAllowed(method, this.types.allowedMethods(type, 'instance'));
  }

  private rootUrl(request: Request): string {
    return rootUrlOf(request, this.environment);
  }
}

const notAllowed = (method: string, allow: readonly string[]): ServiceError =>
  new ServiceError('not-allowed', `${method} is not allowed here; allowed: ${allow.join(', ')}.`, { allow });
