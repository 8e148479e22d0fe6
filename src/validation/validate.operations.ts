import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { type Resource } from '../fhir/types';
import { ResourceTypes } from '../model/resource-types';
import { ANY_TYPE, Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { parameterInvalid } from '../platform/errors/parameter-invalid';
import { ServiceError } from '../platform/errors/service-error';
import { readJsonInSteps } from '../platform/json/read-json';
import { Slices } from '../platform/time/slices';
import { GrantedReader } from '../resource/rows/granted-reader';
import { DryRun } from './dry-run';

/** The part that `$validate` (http://hl7.org/fhir/R4/resource-operation-validate.html) has on all levels. */
const RESOURCE_VALIDATE = {
  code: 'validate',
  definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
  parameters: [
    { name: 'mode', description: 'create, update, delete or profile' },
    { name: 'profile', description: 'A profile to validate by, beside those of meta.profile' },
  ],
  exampleBody: { resourceType: 'Patient', name: [{ family: 'Okafor' }], gender: 'female' },
} as const;

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
  constructor(private readonly dryRun: DryRun) {}

  async execute(request: OperationRequest): Promise<FhirAnswer> {
    const { type = '' } = request;
    return this.dryRun.answer(type, await this.dryRun.read(type, request));
  }
}

/** On an instance, it validates the sent resource or, if none is sent, the stored one. */
@Injectable()
@Operation({
  ...RESOURCE_VALIDATE,
  resourceType: ANY_TYPE,
  level: 'instance',
  methods: ['GET', 'POST'],
  enforcesRows: true,
  description: 'The same for an update of this resource; without a body, what is stored is validated.',
})
export class ValidateInstance implements OperationHandler {
  constructor(
    private readonly dryRun: DryRun,
    private readonly reader: GrantedReader,
    private readonly types: ResourceTypes,
    private readonly slices: Slices,
  ) {}

  async execute(request: OperationRequest): Promise<FhirAnswer> {
    const { type = '', id = '' } = request;
    const sent = await this.dryRun.read(type, request);
    this.types.assertKnown(type);
    await this.reader.assertSeen(type, id);
    if (sent.resource !== undefined) return this.dryRun.answer(type, sent, id);
    const { text } = await this.reader.read(type, id);
    return this.dryRun.answer(type, { ...sent, resource: await this.slices.run(readJsonInSteps(text)) }, id);
  }
}

/** Without a type in the URL, the resource names its type. */
@Injectable()
@Operation({
  ...RESOURCE_VALIDATE,
  level: 'system',
  methods: ['POST'],
  description: 'The same for a resource of any type, which names its type itself.',
  parameters: [{ name: 'mode', description: 'create, update or profile' }, RESOURCE_VALIDATE.parameters[1]],
})
export class ValidateAny implements OperationHandler {
  constructor(private readonly dryRun: DryRun) {}

  async execute(request: OperationRequest): Promise<FhirAnswer> {
    const sent = await this.dryRun.read(undefined, request);
    if (sent.mode === 'delete')
      throw parameterInvalid('Mode "delete" is for one resource: call /Type/id/$validate.', 'mode');
    const type = (sent.resource?.value as Partial<Resource> | null | undefined)?.resourceType;
    if (typeof type !== 'string')
      throw new ServiceError(
        'body-not-a-resource',
        'Send a resource with "resourceType", or Parameters with such a "resource".',
        { expression: 'resourceType' },
      );
    return this.dryRun.answer(type, sent);
  }
}
