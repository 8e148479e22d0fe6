import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest } from '../../operation/operation';
import { amendmentsOperation, RecordAnswers } from './record-answers';

@Injectable()
@Operation({
  ...amendmentsOperation,
  resourceType: 'SDCDocument',
  exampleId: 'vitals-1',
  description:
    'What was signed, what changed, by whom and when, notes and comments, and whether the record is intact: as a page for people, or JSON',
})
export class DocumentAmendments implements OperationHandler {
  constructor(private readonly answers: RecordAnswers) {}

  execute(request: OperationRequest): Promise<FhirAnswer> {
    return this.answers.of(request);
  }
}
