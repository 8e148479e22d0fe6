import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { FHIR_JSON } from '../fhir/fhir-answer';
import { PublicRoute } from '../platform/http/route-access';
import { CapabilityStatements } from './capability-statement';

@ApiTags('Server')
@Controller(['metadata', 'fhir/metadata'])
export class CapabilityController {
  constructor(private readonly statements: CapabilityStatements) {}

  @PublicRoute()
  @Get()
  @ApiOperation({
    security: [],
    summary: 'What this server can do',
    description: 'A CapabilityStatement made of what is registered.',
  })
  @ApiResponse({
    status: HttpStatus.OK,
    description: 'CapabilityStatement (http://hl7.org/fhir/R4/capabilitystatement.html)',
  })
  async metadata(@Res() response: Response): Promise<void> {
    const text = await this.statements.text();
    response.setHeader('Content-Type', FHIR_JSON);
    response.end(text);
  }
}
