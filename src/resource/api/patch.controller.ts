import { Controller, Param, Patch, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { FormatGuard } from '../../fhir/format.guard';
import { sendAnswer } from '../../fhir/fhir-answer';
import { Environment } from '../../platform/config/environment';
import { EnforcesRows, OperationId } from '../../platform/http/route-access';
import { ConditionalWriter } from '../conditional/conditional-writer';
import { assertId } from '../resource-draft';
import { ResourceTypes } from '../resource-types';
import { RowLimits } from '../rows/row-limits';
import { ResourceWriter } from '../resource-writer';
import { assertNoCriteria, criteriaOf } from './criteria-request';
import { IsolationGuard } from './isolation.guard';
import { patchOf } from './patch-request';
import { preconditionsOf } from './preconditions';
import { resourceAnswer } from './resource-answer';

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
    private readonly limits: RowLimits,
    private readonly environment: Environment,
  ) {}

  @Patch(':type/:id')
  @OperationId('FhirPatch')
  async patch(
    @Param('type') type: string,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    this.types.assertWritable(type);
    assertId(id);
    assertNoCriteria(request);
    const patch = patchOf(request, this.environment.bodyLimitBytes);
    const options = { ...preconditionsOf(request), limit: await this.limits.current() };
    const { resource } = await this.writer.patch(type, id, patch, options);
    sendAnswer(response, resourceAnswer(200, resource));
  }

  @Patch(':type')
  @OperationId('FhirConditionalPatch')
  async patchMatch(@Param('type') type: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    this.types.assertWritable(type);
    const patch = patchOf(request, this.environment.bodyLimitBytes);
    const options = { ...preconditionsOf(request), limit: await this.limits.current() };
    const { resource } = await this.conditional.patch(type, criteriaOf(request), patch, options);
    sendAnswer(response, resourceAnswer(200, resource));
  }
}
