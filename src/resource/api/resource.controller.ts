import { All, Controller, Delete, Get, Param, Post, Put, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { sendAnswer } from '../../fhir/fhir-answer';
import { FormatGuard } from '../../fhir/format.guard';
import { rootUrlOf } from '../../fhir/root-url';
import { Environment } from '../../platform/config/environment';
import { ServiceError } from '../../platform/errors/service-error';
import { EnforcesRows, OperationId } from '../../platform/http/route-access';
import { ConditionalWriter } from '../conditional/conditional-writer';
import { ResourceDraft, assertId } from '../resource-draft';
import { GrantedReader } from '../rows/granted-reader';
import { ResourceTypes } from '../resource-types';
import { RowLimits } from '../rows/row-limits';
import { ResourceWriter } from '../resource-writer';
import { assertNoCriteria, createCriteriaOf, isConditionalCreate, isNoContent } from './criteria-request';
import { IsolationGuard } from './isolation.guard';
import { preconditionsOf } from './preconditions';
import { locationOf, resourceAnswer } from './resource-answer';
import { readBody } from './resource-request';

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
    private readonly limits: RowLimits,
    private readonly environment: Environment,
  ) {}

  @Get(':type/:id')
  @OperationId('FhirRead')
  async read(@Param('type') type: string, @Param('id') id: string, @Res() response: Response): Promise<void> {
    this.types.assertKnown(type);
    assertId(id);
    sendAnswer(response, resourceAnswer(200, await this.reader.read(type, id)));
  }

  @Post(':type')
  @OperationId((request) => (isConditionalCreate(request) ? 'FhirConditionalCreate' : 'FhirCreate'))
  async create(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    this.types.assertWritable(type);
    const draft = ResourceDraft.of(readBody(request), type);
    const criteria = createCriteriaOf(request);
    const limit = await this.limits.current();
    const { outcome, resource } =
      criteria === undefined
        ? { outcome: 'created', resource: await this.writer.create(draft, { limit }) }
        : await this.conditional.create(draft, criteria, { limit });
    const location = locationOf(this.rootUrl(request), resource);
    const headers = { Location: location, ...(outcome === 'created' ? {} : { 'Content-Location': location }) };
    sendAnswer(response, resourceAnswer(outcome === 'created' ? 201 : 200, resource, headers));
  }

  @Put(':type/:id')
  @OperationId('FhirUpdate')
  async update(
    @Param('type') type: string,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    this.types.assertWritable(type);
    assertId(id);
    assertNoCriteria(request);
    const draft = ResourceDraft.of(readBody(request), type, id);
    const options = { ...preconditionsOf(request), limit: await this.limits.current() };
    const { outcome, resource } = await this.writer.put(draft, id, options);
    const headers = outcome === 'created' ? { Location: locationOf(this.rootUrl(request), resource) } : {};
    sendAnswer(response, resourceAnswer(outcome === 'created' ? 201 : 200, resource, headers));
  }

  @Delete(':type/:id')
  @OperationId('FhirDelete')
  async delete(
    @Param('type') type: string,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    this.types.assertWritable(type);
    assertId(id);
    assertNoCriteria(request);
    const hasContent = !isNoContent(request);
    const options = { ...preconditionsOf(request), limit: await this.limits.current() };
    const deleted = await this.writer.delete(type, id, options);
    const isShown = deleted !== undefined && hasContent;
    sendAnswer(response, isShown ? resourceAnswer(200, deleted) : { status: 204 });
  }

  @All(':type')
  typeMethodNotAllowed(@Param('type') type: string, @Req() { method }: Request): never {
    this.types.assertKnown(type);
    throw notAllowed(
      method,
      this.types.isReadOnly(type) ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    );
  }

  @All(':type/:id')
  instanceMethodNotAllowed(@Param('type') type: string, @Req() { method }: Request): never {
    this.types.assertKnown(type);
    throw notAllowed(method, this.types.isReadOnly(type) ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']);
  }

  private rootUrl(request: Request): string {
    return rootUrlOf(request, this.environment);
  }
}

const notAllowed = (method: string, allow: readonly string[]): ServiceError =>
  new ServiceError('not-allowed', `${method} is not allowed here; allowed: ${allow.join(', ')}.`, { allow });
