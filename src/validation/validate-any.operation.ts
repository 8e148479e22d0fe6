import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { type Resource } from '../fhir/types';
import { Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { parameterInvalid } from '../platform/errors/parameter-invalid';
import { ServiceError } from '../platform/errors/service-error';
import { Slices } from '../platform/time/slices';
import { DryRun } from './dry-run';
import { readValidateRequest, RESOURCE_VALIDATE } from './validate-request';

/**
 * `$validate` without a type in the URL (http://hl7.org/fhir/R4/resource-operation-validate.html). The resource names
 * its type.
 */
@Injectable()
@Operation({
  ...RESOURCE_VALIDATE,
  level: 'system',
  methods: ['POST'],
  description: 'The same for a resource of any type, which names its type itself.',
  parameters: [{ name: 'mode', description: 'create, update or profile' }, RESOURCE_VALIDATE.parameters[1]],
})
export class ValidateAny implements OperationHandler {
  constructor(
    private readonly dryRun: DryRun,
    private readonly slices: Slices,
  ) {}

  async execute({ body, query, headers }: OperationRequest): Promise<FhirAnswer> {
    const request = await this.slices.run(readValidateRequest(undefined, body, query, headers.prefer));
    if (request.mode === 'delete')
      throw parameterInvalid('Mode "delete" is for one resource: call /Type/id/$validate.', 'mode');
    const type = (request.resource?.value as Partial<Resource> | null | undefined)?.resourceType;
    if (typeof type !== 'string')
      throw new ServiceError(
        'body-not-a-resource',
        'Send a resource with "resourceType", or Parameters with such a "resource".',
        { expression: 'resourceType' },
      );
    return this.dryRun.answer(type, request);
  }
}
