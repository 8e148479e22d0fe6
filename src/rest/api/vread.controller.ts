import { All, Controller, Get, Param, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Response } from 'express';
import { sendAnswer } from '../../fhir/edge/fhir-answer';
import { FormatGuard } from '../../fhir/edge/format.guard';
import { ServiceError } from '../../platform/errors/service-error';
import { assertKnownParameters, RESOURCE_PARAMETERS } from '../../platform/http/known-parameters';
import { queryOf } from '../../platform/http/raw-request';
import { EnforcesRows, OperationId } from '../../platform/http/route-access';
import { assertId } from '../../model/resource-draft';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { ResourceTypes } from '../../model/resource-types';
import { resourceAnswer } from './resource-answer';

/** One version of a resource (http://hl7.org/fhir/R4/http.html#vread). */
@ApiExcludeController()
@UseGuards(FormatGuard)
@EnforcesRows()
@Controller(['fhir', ''])
export class VreadController {
  constructor(
    private readonly types: ResourceTypes,
    private readonly reader: GrantedReader,
  ) {}

  @Get(':type/:id/_history/:version')
  @OperationId('FhirVread')
  async vread(
    @Param() { type = '', id = '', version = '' }: Record<string, string>,
    @Res() response: Response,
  ): Promise<void> {
    this.types.assertKnown(type);
    assertId(id);
    const { req } = response;
    assertKnownParameters('A read', queryOf(req), RESOURCE_PARAMETERS, req.get('prefer'));
    await sendAnswer(response, resourceAnswer(200, await this.reader.readVersion(type, id, versionNumber(version))));
  }

  @All(':type/:id/_history/:version')
  notAllowed(@Param('type') type: string): never {
    this.types.assertKnown(type);
    throw new ServiceError('not-allowed', 'A version never changes: it can be read with GET.', {
      allow: ['GET', 'HEAD'],
    });
  }
}

function versionNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new ServiceError('not-found', 'No such version: a version is a whole number such as 2.');
  return Number(text);
}
