import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { ANY_TYPE, Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { readJsonInSteps, type ScannedJson } from '../platform/json/read-json';
import { Slices } from '../platform/time/slices';
import { GrantedReader } from '../resource/rows/granted-reader';
import { ResourceTypes } from '../model/resource-types';
import { DryRun } from './dry-run';
import { readValidateRequest, RESOURCE_VALIDATE } from './validate-request';

/**
 * `$validate` on an instance (http://hl7.org/fhir/R4/resource-operation-validate.html). It validates the sent resource
 * or, if none is sent, the stored one.
 */
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

  async execute({ type = '', id = '', body, query, headers }: OperationRequest): Promise<FhirAnswer> {
    const request = await this.slices.run(readValidateRequest(type, body, query, headers.prefer));
    this.types.assertKnown(type);
    await this.reader.assertSeen(type, id);
    const resource = request.resource ?? (await this.stored(type, id));
    return this.dryRun.answer(type, { ...request, resource }, id);
  }

  private async stored(type: string, id: string): Promise<ScannedJson> {
    const { text } = await this.reader.read(type, id);
    return this.slices.run(readJsonInSteps(text));
  }
}
