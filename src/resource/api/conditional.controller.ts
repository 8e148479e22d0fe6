import { Controller, Delete, Param, Put, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { FormatGuard } from '../../fhir/format.guard';
import { type Request, type Response } from 'express';
import { type FhirAnswer, sendAnswer } from '../../fhir/fhir-answer';
import { informationOutcome } from '../../fhir/operation-outcome';
import { rootUrlOf } from '../../fhir/root-url';
import { Environment } from '../../platform/config/environment';
import { EnforcesRows, OperationId } from '../../platform/http/route-access';
import { type ConditionalDeletion, ConditionalWriter } from '../conditional/conditional-writer';
import { ResourceTypes } from '../resource-types';
import { criteriaOf, isNoContent, isRemoveAll } from './criteria-request';
import { IsolationGuard } from './isolation.guard';
import { locationOf, resourceAnswer } from './resource-answer';
import { ShownResources } from './shown-resources';
import { WriteRequests } from './write-requests';

/** Update and delete of what criteria find (http://hl7.org/fhir/R4/http.html#cond-update, #cdelete). */
@ApiExcludeController()
@UseGuards(FormatGuard, IsolationGuard)
@EnforcesRows()
@Controller(['fhir', ''])
export class ConditionalController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly writer: ConditionalWriter,
    private readonly requests: WriteRequests,
    private readonly shown: ShownResources,
    private readonly environment: Environment,
  ) {}

  @Put(':type')
  @OperationId('FhirConditionalUpdate')
  async update(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    this.types.assertWritable(type, 'update', 'type');
    const draft = await this.requests.draftOf(request, type);
    const options = await this.requests.optionsOf(request);
    const { outcome, resource } = await this.writer.put(draft, criteriaOf(request), options);
    const location = locationOf(rootUrlOf(request, this.environment), resource);
    const isNew = outcome === 'created';
    const shown = await this.shown.of(resource);
    await sendAnswer(response, resourceAnswer(isNew ? 201 : 200, shown, isNew ? { Location: location } : {}));
  }

  @Delete(':type')
  @OperationId('FhirConditionalDelete')
  async delete(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    this.types.assertWritable(type, 'conditional-delete', 'type');
    const options = { all: isRemoveAll(request), ...(await this.requests.optionsOf(request)) };
    const hasContent = !isNoContent(request);
    const deletion = await this.writer.delete(type, criteriaOf(request), options);
    await sendAnswer(response, hasContent ? deletionAnswer(deletion) : { status: 204 });
  }
}

function deletionAnswer({ count, resource }: ConditionalDeletion): FhirAnswer {
  if (count === 0) return { status: 204 };
  if (resource !== undefined) return resourceAnswer(200, resource);
  return { status: 200, text: JSON.stringify(informationOutcome(`${count} resources were deleted.`)) };
}
