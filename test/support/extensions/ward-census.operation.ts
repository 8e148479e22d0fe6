import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../../../src/fhir/edge/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest } from '../../../src/operation/operation';
import { ResourceReader } from '../../../src/store/resource-reader';

@Injectable()
@Operation({ resourceType: 'Ward', code: 'census', level: 'instance', methods: ['GET'], description: 'Counts beds.' })
export class WardCensus implements OperationHandler {
  constructor(private readonly reader: ResourceReader) {}

  async execute({ id = '' }: OperationRequest): Promise<FhirAnswer> {
    const { text } = await this.reader.read('Ward', id);
    const { beds } = JSON.parse(text) as { readonly beds: number };
    const answer = { resourceType: 'Parameters', parameter: [{ name: 'beds', valueInteger: beds }] };
    return { status: 200, text: JSON.stringify(answer) };
  }
}
