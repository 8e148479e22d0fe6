import { Injectable } from '@nestjs/common';
import {
  type FhirAnswer,
  Operation,
  type OperationHandler,
  type OperationRequest,
  ResourceReader,
} from 'svc-health-server';

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
