import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest } from '../../operation/operation';
import { amendmentsOperation, RecordAnswers } from './record-answers';

@Injectable()
@Operation({
  ...amendmentsOperation,
  resourceType: 'SDCWorkflow',
  exampleId: 'rounds-1',
  description:
    'The same of a workflow: what was signed, what changed, by whom and when, notes and comments, and whether the record is intact',
})
export class WorkflowAmendments implements OperationHandler {
  constructor(private readonly answers: RecordAnswers) {}

  execute(request: OperationRequest): Promise<FhirAnswer> {
    return this.answers.of(request);
  }
}
