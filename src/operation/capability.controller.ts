import { Controller, Get, HttpStatus, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { sendAnswer } from '../fhir/fhir-answer';
import { FormatGuard } from '../fhir/format.guard';
import { PublicRoute } from '../platform/http/route-access';
import { CapabilityStatements } from './capability-statement';

@ApiTags('Server')
@UseGuards(FormatGuard)
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
  metadata(@Res() response: Response): void {
    sendAnswer(response, { status: HttpStatus.OK, text: this.statements.text });
  }
}
