import { All, Get, Param, Res } from '@nestjs/common';
import { type Response } from 'express';
import { sendAnswer } from '../../fhir/edge/fhir-answer';
import { ServiceError } from '../../platform/errors/service-error';
import { queryOf } from '../../platform/http/raw-request';
import { OperationId } from '../../platform/http/route-access';
import { Compartments } from '../../resource/compartment/compartments';
import { assertId } from '../../model/resource-draft';
import { ResourceTypes } from '../../model/resource-types';
import { SearchIndex } from '../../search-index/search-index';
import { SearchRequests } from './search-request';
import { ResourceRoutes, type RouteParams } from './resource-routes';

/**
 * Search in a compartment (http://hl7.org/fhir/R4/http.html#search): finds resources of one type that belong to one
 * resource, by the stored CompartmentDefinition. These routes are registered after the other open routes, because
 * without a prefix they would match `/fhir/{type}/{id}`.
 */
@ResourceRoutes()
export class CompartmentController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly compartments: Compartments,
    private readonly index: SearchIndex,
    private readonly searches: SearchRequests,
  ) {}

  @Get(':compartment/:id/:type')
  @OperationId('FhirCompartmentSearch')
  async search(
    @Param() { compartment = '', id = '', type = '' }: RouteParams,
    @Res() response: Response,
  ): Promise<void> {
    this.types.assertKnown(compartment);
    assertId(id);
    this.types.assertKnown(type);
    const definition = await this.compartments.of(compartment);
    definition.assertFinished([type]);
    const { parameterIdsByType, hasItself } = definition;
    const targetHash = this.index.referenceHash(compartment, id);
    const links = (parameterIdsByType.get(type) ?? []).map((parameterId) => ({ targetHash, parameterId }));
    const linked = { kind: 'reference' as const, links };
    const itself = { kind: 'id' as const, ids: [id] };
    const clause = hasItself && type === compartment ? { kind: 'any' as const, clauses: [linked, itself] } : linked;
    const target = { type, path: `${compartment}/${id}/${type}`, clauses: [clause] };
    await sendAnswer(response, await this.searches.answer(response.req, queryOf(response.req), target));
  }

  @All(':compartment/:id/:type')
  notAllowed(@Param() { compartment = '', type = '' }: RouteParams): never {
    this.types.assertKnown(compartment);
    this.types.assertKnown(type);
    throw new ServiceError('not-allowed', `A compartment is searched with GET; to write, use /${type}.`, {
      allow: ['GET', 'HEAD'],
    });
  }
}
