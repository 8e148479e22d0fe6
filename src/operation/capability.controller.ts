import { All, Controller, Get, HttpStatus, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { sendAnswer } from '../fhir/edge/fhir-answer';
import { FormatGuard } from '../fhir/edge/format.guard';
import { parameterInvalid } from '../platform/errors/parameter-invalid';
import { ServiceError } from '../platform/errors/service-error';
import { assertKnownParameters, RESOURCE_PARAMETERS } from '../platform/http/known-parameters';
import { queryOf } from '../platform/http/raw-request';
import { PublicRoute } from '../platform/http/route-access';
import { CapabilityStatements } from './capability-statement';

/** The values of `mode` (http://hl7.org/fhir/R4/http.html#capabilities); `normative` returns the same as `full`. */
const MODES = ['full', 'normative', 'terminology'];

@ApiTags('Server')
@UseGuards(FormatGuard)
@Controller(['metadata', 'fhir/metadata'])
export class CapabilityController {
  constructor(private readonly statements: CapabilityStatements) {}

  @PublicRoute()
  @Get()
  @ApiOperation({
    security: [],
    summary: 'The capabilities of this server',
    description: 'A CapabilityStatement made of what is registered.',
  })
  @ApiResponse({
    status: HttpStatus.OK,
    description: 'CapabilityStatement (http://hl7.org/fhir/R4/capabilitystatement.html)',
  })
  @ApiQuery({ name: 'mode', required: false, enum: MODES })
  async metadata(@Req() request: Request, @Res() response: Response): Promise<void> {
    const known = ['mode', ...RESOURCE_PARAMETERS];
    assertKnownParameters('The CapabilityStatement', queryOf(request), known, request.get('prefer'));
    const mode = queryOf(request).get('mode') ?? 'full';
    if (!MODES.includes(mode)) throw parameterInvalid(`mode must be ${MODES.join(', ')}.`);
    const { text, etag } = await this.statements.of(mode);
    await sendAnswer(response, { status: HttpStatus.OK, text, headers: { ETag: etag }, isResource: true });
  }

  @PublicRoute()
  @All()
  @ApiExcludeEndpoint()
  notAllowed(): never {
    throw new ServiceError('not-allowed', 'The CapabilityStatement can only be read: send GET /metadata.', {
      allow: ['GET', 'HEAD'],
    });
  }
}
