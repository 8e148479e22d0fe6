import { Controller, Param, Patch, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { FormatGuard } from '../../fhir/format.guard';
import { sendAnswer } from '../../fhir/fhir-answer';
import { Environment } from '../../platform/config/environment';
import { EnforcesRows, OperationId } from '../../platform/http/route-access';
import { Slices } from '../../platform/time/slices';
import { ConditionalWriter } from '../conditional/conditional-writer';
import { ResourceTypes } from '../resource-types';
import { ResourceWriter } from '../resource-writer';
import { criteriaOf } from './criteria-request';
import { IsolationGuard } from './isolation.guard';
import { patchOf } from './patch-request';
import { resourceAnswer } from './resource-answer';
import { ShownResources } from './shown-resources';
import { WriteRequests } from './write-requests';

/** Patches of one resource, named by its id or by criteria (http://hl7.org/fhir/R4/http.html#patch). */
@ApiExcludeController()
@UseGuards(FormatGuard, IsolationGuard)
@EnforcesRows()
@Controller(['fhir', ''])
export class PatchController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly writer: ResourceWriter,
    private readonly conditional: ConditionalWriter,
    private readonly requests: WriteRequests,
    private readonly shown: ShownResources,
    private readonly environment: Environment,
    private readonly slices: Slices,
  ) {}

  @Patch(':type/:id')
  @OperationId('FhirPatch')
  async patch(
    @Param('type') type: string,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    this.requests.assertById('update', type, id, request);
    const patch = await patchOf(request, this.environment.bodyLimitBytes, this.slices);
    const { resource } = await this.writer.patch(type, id, patch, await this.requests.optionsOf(request));
    await sendAnswer(response, resourceAnswer(200, await this.shown.of(resource)));
  }

  @Patch(':type')
  @OperationId('FhirConditionalPatch')
  async patchMatch(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    this.types.assertWritable(type, 'update', 'type');
    const patch = await patchOf(request, this.environment.bodyLimitBytes, this.slices);
    const options = await this.requests.optionsOf(request);
    const { resource } = await this.conditional.patch(type, criteriaOf(request), patch, options);
    await sendAnswer(response, resourceAnswer(200, await this.shown.of(resource)));
  }
}
