import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { ANY_TYPE, Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { Slices } from '../platform/time/slices';
import { DryRun } from './dry-run';
import { readValidateRequest, RESOURCE_VALIDATE } from './validate-request';

/** `$validate` on a type (http://hl7.org/fhir/R4/resource-operation-validate.html). */
@Injectable()
@Operation({
  ...RESOURCE_VALIDATE,
  resourceType: ANY_TYPE,
  level: 'type',
  methods: ['POST'],
  enforcesRows: true,
  description: 'Lists errors and warnings that a create or update of this resource would get.',
})
export class ValidateType implements OperationHandler {
  constructor(
    private readonly dryRun: DryRun,
    private readonly slices: Slices,
  ) {}

  async execute({ type = '', body, query, headers }: OperationRequest): Promise<FhirAnswer> {
    return this.dryRun.answer(type, await this.slices.run(readValidateRequest(type, body, query, headers.prefer)));
  }
}
