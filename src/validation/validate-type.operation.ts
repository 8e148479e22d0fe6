import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { ANY_TYPE, Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { Slices } from '../platform/time/slices';
import { DryRun } from './dry-run';
import { readValidateRequest, RESOURCE_VALIDATE } from './validate-request';

/** http://hl7.org/fhir/R4/resource-operation-validate.html on a type. */
@Injectable()
@Operation({
  resourceType: ANY_TYPE,
  code: 'validate',
  level: 'type',
  methods: ['POST'],
  enforcesRows: true,
  definition: RESOURCE_VALIDATE,
  description: 'What a create or update of this resource would be refused for, or warned of.',
  parameters: [
    { name: 'mode', description: 'create, update, delete or profile' },
    { name: 'profile', description: 'A profile to validate by, beside those of meta.profile' },
  ],
  exampleBody: { resourceType: 'Patient', name: [{ family: 'Okafor' }], gender: 'female' },
})
export class ValidateType implements OperationHandler {
  constructor(
    private readonly dryRun: DryRun,
    private readonly slices: Slices,
  ) {}

  async execute({ type = '', body, query }: OperationRequest): Promise<FhirAnswer> {
    return this.dryRun.answer(type, await this.slices.run(readValidateRequest(type, body, query)));
  }
}
